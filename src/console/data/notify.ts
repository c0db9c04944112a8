import { spelledOut } from '../ui/visible.ts'

/** Notifications of the browser: whether this one may show them, and whether its user wants them. */

const STORED = 'gate-sidecar-notify'
/** So many characters of a text of others are shown. */
const MOST_SHOWN = 80

export type NotifyState = 'on' | 'off' | 'refused' | 'impossible'

export function notifyState(): NotifyState {
  if (!('Notification' in window)) return 'impossible'
  if (Notification.permission === 'denied') return 'refused'
  return Notification.permission === 'granted' && localStorage.getItem(STORED) === 'on' ? 'on' : 'off'
}

/** Asks for permission where it has not been given. To be called on a click only, as browsers demand. */
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
 * Shows a notification, one for each `id` in all tabs. Nothing is shown where the user does not want it.
 *
 * @param text of others: what cannot be seen in it is shown as code points, and of a long one the beginning
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
    // Browsers of some phones know notifications of service workers only.
    if (!(error instanceof TypeError)) throw error
    turnOff()
  }
}

/** A text of others without markup, for where nothing but text can be. */
function shownText(text: string): string {
  const visible = spelledOut(text.slice(0, MOST_SHOWN))
  const beginning = visible.slice(0, MOST_SHOWN)
  return beginning.length < visible.length || text.length > MOST_SHOWN ? `${beginning}…` : beginning
}
