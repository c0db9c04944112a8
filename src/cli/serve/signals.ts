/** The first signal that asks to stop. A second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/**
 * Hears SIGHUP from now on, which would end the process otherwise. What came before there is something to call counts
 * as one.
 *
 * @returns sets what is called at each signal
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
 * Has the process end with its listeners in place. An orderly end takes them away first, so that a SIGHUP that comes
 * then would count as what ended it. Call it last: no later listener of `exit` is called.
 */
export function hearToTheEnd(): void {
  process.once('exit', () => process.exit())
}
