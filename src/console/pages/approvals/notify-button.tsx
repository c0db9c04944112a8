import { useState } from 'preact/hooks'
import { notifyState, turnOff, turnOn } from '../../data/notify.ts'
import { useToast } from '../../ui/toast.tsx'

const REFUSED = 'This browser lets the console show no notifications. Its settings for this address say why.'

/** Turns notifications of new approvals on and off. The browser asks for permission on this click, never before. */
export function NotifyButton() {
  const [state, setState] = useState(notifyState)
  const tell = useToast()
  if (state === 'impossible') return null
  const clicked = async (): Promise<void> => {
    const next = state === 'on' ? turnOff() : await turnOn()
    setState(next)
    if (next === 'refused') tell(REFUSED)
    if (next === 'on') tell('You are told of each new approval while this page is not in front.')
  }
  return (
    <button type="button" class="button small" aria-pressed={state === 'on'} onClick={() => void clicked()}>
      {state === 'on' ? 'Notifying' : 'Notify me'}
    </button>
  )
}
