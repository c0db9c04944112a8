import type { TargetedKeyboardEvent } from 'preact'

/** Ctrl+Enter, or Cmd+Enter, presses the button that sends a form, from wherever one is in it but on another button. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  const { key, ctrlKey, metaKey, repeat, isComposing } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat || isComposing) return
  const { target, currentTarget } = event
  if (target instanceof HTMLButtonElement && target.type !== 'submit') return
  event.preventDefault()
  // Not `requestSubmit`, which sends past a button that is disabled.
  currentTarget.querySelector<HTMLButtonElement>('button[type=submit]:enabled')?.click()
}
