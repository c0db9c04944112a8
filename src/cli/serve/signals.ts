import { setTimeout as sleep } from 'node:timers/promises'

/** The first signal that requests a stop. A second one ends the process at once. */
export function stopSignal(...others: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.once(signal, resolve)
  })
}

/** Repeats the work until a stop signal. @param work returns false when it found nothing to do, which makes a pause */
export async function untilStopped(pauseMs: number, work: () => Promise<boolean>): Promise<void> {
  let isStopped = false
  const stopped = stopSignal().then(() => {
    isStopped = true
  })
  while (!isStopped) if (!(await work())) await Promise.race([sleep(pauseMs), stopped])
}

/**
 * Handles SIGHUP from now on, which would otherwise end the process.
 * Signals before a handler is set count as one.
 *
 * @returns a function that sets the handler
 */
export function reloadSignal(): (reload: () => void) => void {
  let missed = false
  let act = (): void => {
    missed = true
  }
  process.on('SIGHUP', () => act())
  return (reload) => {
    act = reload
    if (missed) reload()
    missed = false
  }
}

/**
 * Ends the process with its listeners in place. An orderly exit removes them first,
 * and a SIGHUP after that would count as its cause.
 * Call it last: later listeners of `exit` are not called.
 */
export function hearToTheEnd(): void {
  process.once('exit', () => process.exit())
}
