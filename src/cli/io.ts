import { homedir } from 'node:os'

/** Output of a command: a file, a pipe, or a terminal so many columns wide. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** The parts of the process that a command uses. `process` is one; tests bring their own. */
export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  env: NodeJS.ProcessEnv
  /** The exit code of a command that returns. */
  exitCode?: NodeJS.Process['exitCode']
  /** Exits at once: a hook does not wait for other open handles. */
  exit(code: number): void
}

/** The home folder of the user, from the environment of the command. */
export function homeOf({ env: { HOME = homedir() } }: Io): string {
  return HOME
}
