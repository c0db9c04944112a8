/** Runs work one at a time by name: callers during a run share the next one, which starts after they asked. */
export function attempts() {
  const running = new Map<string, Promise<void>>()
  const waiting = new Map<string, Promise<void>>()

  const start = (name: string, work: () => Promise<void>): Promise<void> => {
    const done = work().finally(() => running.delete(name))
    running.set(name, done)
    return done
  }
  return {
    isBusy: (name: string): boolean => running.has(name) || waiting.has(name),
    /** Resolves when an attempt that started after this call has ended. @throws what the work throws */
    run(name: string, work: () => Promise<void>): Promise<void> {
      const next = waiting.get(name)
      if (next !== undefined) return next
      const current = running.get(name)
      if (current === undefined) return start(name, work)
      const begin = (): Promise<void> => {
        waiting.delete(name)
        return start(name, work)
      }
      // The result of the earlier attempt goes to its own callers.
      const later = current.then(begin, begin)
      waiting.set(name, later)
      return later
    },
    /** Waits until nothing runs and nothing waits. */
    async idle(): Promise<void> {
      while (running.size + waiting.size > 0) await Promise.allSettled([...running.values(), ...waiting.values()])
    },
  }
}
