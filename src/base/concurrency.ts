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

/**
 * Runs at most `limit` tasks at once and at most one of each key; the rest wait, and keys have their turns one after
 * the other, however many tasks each has waiting.
 */
export function takeTurns(limit: number) {
  // In the order in which the keys are due.
  const waiting = new Map<string, (() => void)[]>()
  const running = new Set<string>()
  const beginNext = (): void => {
    for (const [key, queue] of waiting) {
      if (running.size >= limit) return
      if (running.has(key)) continue
      const begin = queue.shift()
      if (queue.length === 0) waiting.delete(key)
      running.add(key)
      begin?.()
    }
  }
  return {
    waitingOf: (key: string): number => waiting.get(key)?.length ?? 0,
    /** @param signal takes the task out of the queue; the run is rejected with its reason */
    async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal?.removeEventListener('abort', leave)
          resolve()
        }
        const leave = (): void => {
          const left = (waiting.get(key) ?? []).filter((other) => other !== begin)
          if (left.length > 0) waiting.set(key, left)
          else waiting.delete(key)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', leave, { once: true })
        waiting.set(key, [...(waiting.get(key) ?? []), begin])
        beginNext()
      })
      try {
        return await work()
      } finally {
        running.delete(key)
        const more = waiting.get(key)
        // Behind all that came while it had its turn.
        waiting.delete(key)
        if (more !== undefined) waiting.set(key, more)
        beginNext()
      }
    },
  }
}
