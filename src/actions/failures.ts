/**
 * Reports the failures of repeated work: each cause once, until it changes or the work succeeds.
 *
 * @param remindMs repeats the report of an unchanged cause after this time; never by default
 */
export function failures(tell: (error: unknown, name: string) => void, remindMs = Number.POSITIVE_INFINITY) {
  const told = new Map<string, { text: string; atMs: number }>()
  const succeeded = (name: string): void => void told.delete(name)
  const failed = (name: string, error: unknown): void => {
    const text = String(error)
    const atMs = performance.now()
    const last = told.get(name)
    if (last?.text === text && atMs - last.atMs < remindMs) return
    told.set(name, { text, atMs })
    tell(error, name)
  }
  return {
    succeeded,
    failed,
    /** True when the work succeeded. Never rejects. */
    async watch(name: string, work: () => Promise<unknown>): Promise<boolean> {
      try {
        await work()
        succeeded(name)
        return true
      } catch (error) {
        failed(name, error)
        return false
      }
    },
  }
}
