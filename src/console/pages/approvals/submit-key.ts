import type { TargetedKeyboardEvent } from 'preact'

/** Ctrl+Enter, or Cmd+Enter, sends a form from wherever one is in it, as its button does. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  const { key, ctrlKey, metaKey, repeat, isComposing } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat || isComposing) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}
