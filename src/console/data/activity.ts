/** User activity: the service ends the session of an inactive user, and only the page sees activity. */

let lastInputMs = performance.now()
let lastToldMs = Number.NEGATIVE_INFINITY

export function watchActivity(): void {
  const note = (): void => {
    lastInputMs = performance.now()
  }
  for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove'])
    addEventListener(event, note, { capture: true, passive: true })
}

/** True after activity that the service has no report of. */
export function isUntold(): boolean {
  return lastInputMs > lastToldMs
}

/** The header that reports activity with the next request. */
export function activityHeader(): Record<string, string> {
  if (!isUntold()) return {}
  lastToldMs = performance.now()
  return { 'x-user-active': '1' }
}
