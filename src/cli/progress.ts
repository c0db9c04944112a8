import type { Io } from './io.ts'

/** Moves to the start of the line and clears it. */
const ERASE = '\r\u001b[K'
const WIDTH = 24
const EVERY_MS = 100
const CASES_WIDTH = 30
/** Fewer cases finish too soon to be watched. */
const MANY_CASES = 500

export interface Progress {
  /** Shows the amount done. */
  at(done: number): void
  /** Clears the line. */
  end(): void
}

/** A progress bar on the terminal's error stream, for long work; none if it is not a terminal. */
export function progressBar({ stderr }: Io, what: string, total: number): Progress {
  let shownMs = 0
  return {
    at(done) {
      const nowMs = performance.now()
      if (!stderr.isTTY || nowMs - shownMs < EVERY_MS) return
      shownMs = nowMs
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const filled = Math.round(share * WIDTH)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`
      stderr.write(`${ERASE}${what} ${bar} ${Math.floor(share * 100)} %  ${done.toLocaleString('en')}`)
    },
    end: () => endProgress({ stderr }),
  }
}

/** Shows how far an older data file is converted, by the number of entries that are left. */
export function conversionProgress(io: Io): (left: number) => void {
  let total = 0
  let bar: Progress | undefined
  return (left) => {
    total = Math.max(total, left)
    bar ??= progressBar(io, 'converting the data file', total)
    bar.at(total - left)
    if (left === 0) bar.end()
  }
}

/** Like `progressBar`, for the cases of tests, of which the total is known only at the first call. */
export function caseProgress({ stderr }: Io): (done: number, of: number) => void {
  return (done, of) => {
    if (!stderr.isTTY || of < MANY_CASES) return
    const filled = Math.floor((done * CASES_WIDTH) / of)
    stderr.write(`${ERASE}[${'#'.repeat(filled)}${'.'.repeat(CASES_WIDTH - filled)}] ${done} of ${of} cases`)
  }
}

export function endProgress({ stderr }: Pick<Io, 'stderr'>): void {
  if (stderr.isTTY) stderr.write(ERASE)
}
