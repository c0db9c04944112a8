/** Runs tasks with the same key one after the other, and tasks with different keys at once. */
export function serialByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work)
    // The next task runs whether this one succeeded or failed.
    const ended = result.catch(() => undefined)
    last.set(key, ended)
    try {
      return await result
    } finally {
      if (last.get(key) === ended) last.delete(key)
    }
  }
}

/** Runs at most `limit` tasks at once; the rest wait in order. */
export function limitConcurrency(limit: number) {
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
