/** Longest delay of a timer, in ms. */
export const MAX_MS = 2 ** 31 - 1

/** @throws TypeError for a time that is not a number, which is a bug of the caller */
export function assertMs(name: string, value: unknown): void {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`${name} must be a number`)
}

/** @throws the reason of the signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
