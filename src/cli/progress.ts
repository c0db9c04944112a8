import type { Io } from './io.ts'

/** To the start of the line, and nothing left on it. */
const ERASE = '\r\u001b[K'
const WIDTH = 24
const EVERY_MS = 100

export interface Progress {
  /** So much is done. */
  at(done: number): void
  /** Takes the line away. */
  end(): void
}

/** A bar on the terminal's error stream, for work that takes its time; nothing where that is no terminal. */
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
