/** Runs work one after the other where it has the same key, and at once where it has not. */
export function turnsByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work)
    // The next in turn does not care how it ended.
    const ended = result.catch(() => undefined)
    last.set(key, ended)
    try {
      return await result
    } finally {
      if (last.get(key) === ended) last.delete(key)
    }
  }
}

/** Runs so much work at once; the rest waits for its turn, in order. */
export function turns(limit: number) {
  const waiting: (() => void)[] = []
  let free = limit
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free === 0) await new Promise<void>((begin) => waiting.push(begin))
    else free -= 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
