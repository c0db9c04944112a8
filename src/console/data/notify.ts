import { spelledOut } from '../ui/visible.ts'

/** Browser notifications: permission of the browser, and choice of the user. */

const STORED = 'gate-sidecar-notify'
/** Limit of characters shown from a text of others. */
const MOST_SHOWN = 80

export type NotifyState = 'on' | 'off' | 'refused' | 'impossible'

export function notifyState(): NotifyState {
  if (!('Notification' in window)) return 'impossible'
  if (Notification.permission === 'denied') return 'refused'
  return Notification.permission === 'granted' && localStorage.getItem(STORED) === 'on' ? 'on' : 'off'
}

/** Asks for missing permission. Call it on a click only, as browsers demand. */
export async function turnOn(): Promise<NotifyState> {
  if (!('Notification' in window)) return 'impossible'
  if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(STORED, 'on')
  return notifyState()
}

export function turnOff(): NotifyState {
  localStorage.removeItem(STORED)
  return notifyState()
}

/**
 * Shows a notification, one for each `id` in all tabs; none if the user has turned them off.
 *
 * @param text of others: invisible characters appear as code points, and long text is cut
 */
export function notify(title: string, { id, text }: { id: string; text: string }, onClick: () => void): void {
  if (notifyState() !== 'on') return
  try {
    const shown = new Notification(title, { body: shownText(text), tag: id })
    shown.onclick = () => {
      shown.close()
      window.focus()
      onClick()
    }
  } catch (error) {
    // Some mobile browsers support notifications by service workers only.
    if (!(error instanceof TypeError)) throw error
    turnOff()
  }
}

/** A text of others without markup, for plain-text places. */
function shownText(text: string): string {
  const visible = spelledOut(text.slice(0, MOST_SHOWN))
  const beginning = visible.slice(0, MOST_SHOWN)
  return beginning.length < visible.length || text.length > MOST_SHOWN ? `${beginning}…` : beginning
}
