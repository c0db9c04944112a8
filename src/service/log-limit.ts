/** Interval in which a line that repeats is written once. */
const INTERVAL_MS = 60_000
/** Limit of different lines that are told apart in an interval. Further ones are told apart by their message alone. */
const MAX_LINES = 1000
/** Characters of a line that tell it apart. */
const MAX_NAME = 500
/** Fields that differ in lines of one cause. */
const IDS = ['requestId']

type Write = (fields: object, message: string) => void

interface Repeated {
  leftOut: number
  /** Newest line of the interval, as it is written at its end. */
  tell(leftOut: number): void
}

/**
 * Writes the first of lines that repeat at once, and one at the end of each minute in which more came: the newest, with
 * `leftOut`, the number of those that were not written. Lines are the same when they differ in ids and numbers only.
 */
export function limitRepeats() {
  const lines = new Map<string, Repeated>()

  const end = (name: string): void => {
    const line = lines.get(name)
    if (line === undefined) return
    lines.delete(name)
    if (line.leftOut === 0) return
    line.tell(line.leftOut)
    begin(name)
  }
  const begin = (name: string): void => {
    lines.set(name, { leftOut: 0, tell: () => undefined })
    // A log alone does not keep the process alive.
    setTimeout(() => end(name), INTERVAL_MS).unref()
  }
  return {
    write(level: number, fields: object, message: string, write: Write): void {
      const full = nameOf(level, fields, message)
      const name = lines.has(full) || lines.size < MAX_LINES ? full : `${level} ${message}`
      const line = lines.get(name)
      if (line === undefined) {
        begin(name)
        write(fields, message)
      } else {
        line.leftOut += 1
        line.tell = (leftOut) => write({ ...fields, leftOut }, message)
      }
    },
    /** Writes what is left out, for a process that ends. */
    flush(): void {
      for (const { leftOut, tell } of lines.values()) if (leftOut > 0) tell(leftOut)
      lines.clear()
    },
  }
}

function nameOf(level: number, fields: object, message: string): string {
  const kept = Object.entries(fields).filter(([name]) => !IDS.includes(name))
  return `${level} ${message} ${JSON.stringify(kept).replaceAll(/\d+/g, '#').slice(0, MAX_NAME)}`
}
