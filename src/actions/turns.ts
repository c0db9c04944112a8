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
