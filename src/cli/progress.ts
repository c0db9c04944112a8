import type { Io } from './io.ts'

/** Moves to the start of the line and clears it. */
const ERASE = '\r\u001b[K'
const WIDTH = 24
const EVERY_MS = 100

export interface Progress {
  /** Shows the amount done. */
  at(done: number): void
  /** Clears the line. */
  end(): void
}

/** A progress bar on the terminal's error stream, for long work; none where it is no terminal. */
export function progressBar({ stderr }: Io, what: string, total: number): Progress {
  if (!stderr.isTTY) return { at: () => undefined, end: () => undefined }
  let shownMs = 0
  return {
    at(done) {
      const nowMs = performance.now()
      if (nowMs - shownMs < EVERY_MS) return
      shownMs = nowMs
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const filled = Math.round(share * WIDTH)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`
      stderr.write(`${ERASE}${what} ${bar} ${Math.floor(share * 100)} %  ${done.toLocaleString('en')}`)
    },
    end: () => void stderr.write(ERASE),
  }
}
