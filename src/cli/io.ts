import { homedir } from 'node:os'

/** Output of a command: a file, a pipe, or a terminal so many columns wide. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** What a command uses of the process that it runs in. `process` is one; tests bring their own. */
export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  env: NodeJS.ProcessEnv
  /** A command that returns ends with this. */
  exitCode?: NodeJS.Process['exitCode']
  /** Ends at once: a hook does not wait for what else is open. */
  exit(code: number): void
}

/** The folder of the user, by the environment of the command. */
export function homeOf({ env: { HOME = homedir() } }: Io): string {
  return HOME
}
