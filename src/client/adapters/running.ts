import type { Leave } from '../guard.ts'
import type { GateSession, ToolArgs, ToolCallOptions } from '../session.ts'

/** Call that may run, and whose outcome the framework reports. */
export interface Running {
  /** Arguments that were checked. */
  args: ToolArgs
  /** False for a call that runs only because the gate or the client observes. */
  isAllowed: boolean
  /** Resolves when the outcome is recorded. */
  succeeded(result: unknown): Promise<void>
  failed(error: unknown): Promise<void>
}

/** Splits `session.call` in two, for frameworks that run tools themselves. @throws ActionRefused */
export function start(
  session: GateSession,
  toolName: string,
  args: ToolArgs,
  options: ToolCallOptions,
): Promise<Running> {
  return new Promise((resolve, reject) => {
    const run = (own: ToolArgs, { decision }: Leave): Promise<unknown> =>
      new Promise((succeed, fail) => {
        const over = async (end: () => void): Promise<void> => {
          end()
          // The caller already knows the outcome.
          await done.catch(() => undefined)
        }
        resolve({
          args: own,
          isAllowed: decision?.decision === 'allow' && (decision.observed ?? 'allow') === 'allow',
          succeeded: (result) => over(() => succeed(result)),
          failed: (error) => over(() => fail(error)),
        })
      })
    const done = session.call(toolName, args, run, options)
    // For a call that runs, `resolve` came first.
    done.catch(reject)
  })
}
