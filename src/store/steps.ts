/** Result of a read: at once from a file, later from a server. */
export type Awaitable<T> = T | Promise<T>

/** Work that waits for reads: over a file it runs at once, over a server as the answers come. */
export type Steps<T> = Generator<Awaitable<unknown>, T, unknown>

/** Waits for a read. */
export function* read<T>(result: Awaitable<T>): Steps<T> {
  // The runner passes on what was read.
  return (yield result) as T
}

/** Runs work over a file. */
export function runNow<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next(step.value)
  return step.value
}

/** Runs work over a server. @param signal ends it between two reads, with its reason */
export async function runLater<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  let step = steps.next()
  while (step.done !== true) {
    step = await nextStep(steps, step.value)
    signal?.throwIfAborted()
  }
  return step.value
}

async function nextStep<T>(
  steps: Steps<T>,
  result: Awaitable<unknown>,
): Promise<IteratorResult<Awaitable<unknown>, T>> {
  let value: unknown
  try {
    value = await result
  } catch (error) {
    return steps.throw(error)
  }
  return steps.next(value)
}
