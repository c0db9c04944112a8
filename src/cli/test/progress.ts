import type { Io } from '../io.ts'

/** Moves to the start of the line and clears it. */
const ERASE = '\r\u001b[K'
const WIDTH = 30
/** Fewer cases finish before anybody looks. */
const MANY = 500

/** A progress bar on the terminal's error stream, for tests that take long. */
export function progressBar({ stderr }: Io): (done: number, of: number) => void {
  if (!stderr.isTTY) return () => undefined
  return (done, of) => {
    if (of < MANY) return
    const filled = Math.floor((done * WIDTH) / of)
    stderr.write(`${ERASE}[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done} of ${of} cases`)
  }
}

export function endProgress({ stderr }: Pick<Io, 'stderr'>): void {
  if (stderr.isTTY) stderr.write(ERASE)
}
