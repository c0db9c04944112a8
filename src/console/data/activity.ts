/** Whether a person is here: the service ends a session whose user does nothing, and only the page knows. */

let lastInputMs = performance.now()
let lastToldMs = Number.NEGATIVE_INFINITY

/** Listens from now on. */
export function watchActivity(): void {
  const note = (): void => {
    lastInputMs = performance.now()
  }
  for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove'])
    addEventListener(event, note, { capture: true, passive: true })
}

/** True when the user has done something of which the service has not been told. */
export function isUntold(): boolean {
  return lastInputMs > lastToldMs
}

/** For the next request, which tells it. */
export function activityHeader(): Record<string, string> {
  if (!isUntold()) return {}
  lastToldMs = performance.now()
  return { 'x-user-active': '1' }
}
