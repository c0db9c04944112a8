import { Readable, Writable } from 'node:stream'
import type { Io } from '../../src/cli/io.ts'
import { type Line, rendered } from '../../src/cli/output.ts'

/** Returns the `Io` of a command in this process, with what it has printed so far. */
export function memoryIo(env: NodeJS.ProcessEnv = {}, input: string | Uint8Array = '') {
  const printed = { stdout: '', stderr: '' }
  const output = (name: keyof typeof printed): Writable =>
    new Writable({
      write(chunk, _, done) {
        printed[name] += chunk
        done()
      },
    })
  let exit: Io['exit'] = () => undefined
  const exited = new Promise<number>((resolve) => {
    exit = resolve
  })
  const stdin = Readable.from(input.length === 0 ? [] : [Buffer.from(input)], { objectMode: false })
  const io: Io = { stdin, stdout: output('stdout'), stderr: output('stderr'), env, exit }
  return { io, printed, exited }
}

/** Lines as they are written where there is no terminal. */
export function plainText(lines: readonly Line[]): string[] {
  const { stdout } = memoryIo().io
  return lines.map((line) => rendered(line, stdout))
}
