/** Tells of failures of what is tried again and again: each once, until it is another one or the work has succeeded. */
export function failures(tell: (error: unknown) => void) {
  const told = new Map<string, string>()
  const succeeded = (name: string): void => void told.delete(name)
  const failed = (name: string, error: unknown): void => {
    const text = String(error)
    if (told.get(name) === text) return
    told.set(name, text)
    tell(error)
  }
  return {
    succeeded,
    failed,
    /** Never rejects. */
    async watch(name: string, work: Promise<void>): Promise<void> {
      try {
        await work
        succeeded(name)
      } catch (error) {
        failed(name, error)
      }
    },
  }
}
