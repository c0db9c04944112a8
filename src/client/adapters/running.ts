import type { GateSession, ToolArgs, ToolCallOptions } from '../session.ts'

/** A call that may run, and of which somebody else says what became of it. */
export interface Running {
  /** What was checked. */
  args: ToolArgs
  /** Resolves when it is recorded. */
  succeeded(result: unknown): Promise<void>
  failed(error: unknown): Promise<void>
}

/** `session.call` in two halves, for frameworks that run tools by themselves. @throws ActionRefused */
export function start(
  session: GateSession,
  toolName: string,
  args: ToolArgs,
  options: ToolCallOptions,
): Promise<Running> {
  return new Promise((resolve, reject) => {
    const run = (own: ToolArgs): Promise<unknown> =>
      new Promise((succeed, fail) => {
        const over = async (end: () => void): Promise<void> => {
          end()
          // Whoever ended it knows how.
          await done.catch(() => undefined)
        }
        resolve({
          args: own,
          succeeded: (result) => over(() => succeed(result)),
          failed: (error) => over(() => fail(error)),
        })
      })
    const done = session.call(toolName, args, run, options)
    // Of what runs, `resolve` came first.
    done.catch(reject)
  })
}
