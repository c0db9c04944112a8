import type { ComponentChildren, TargetedEvent } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  /** Drawn as something that cannot be undone lightly. */
  isDangerous?: boolean
  /** Somebody wants to close it, by Esc too. It stays until it is not rendered any more, so that there can be a question before. */
  onClose: () => void
  children: ComponentChildren
}

/** A question before everything else, until it is answered or closed. The focus stays in it, and then goes back to where it was. */
export function Dialog({ title, isDangerous = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before anything else can happen: what is typed next belongs to it.
  useLayoutEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    element?.showModal()
    // A browser would begin at the button that closes it: whoever types would close it with the first space.
    element?.querySelector<HTMLElement>(':is(input, select, textarea):not(:disabled), h2')?.focus()
    return () => {
      element?.close()
      giveBack(before)
    }
  }, [])
  const cancel = (event: TargetedEvent<HTMLDialogElement>): void => {
    // That of a file chooser within bubbles, and means the chooser.
    if (event.target !== event.currentTarget) return
    event.preventDefault()
    onClose()
  }
  // A browser closes it at the second Esc in a row, whatever is said to that: the owner decides here too.
  const reopen = ({ currentTarget }: TargetedEvent<HTMLDialogElement>): void => {
    if (!currentTarget.isConnected) return
    currentTarget.showModal()
    onClose()
  }
  return (
    <dialog ref={dialog} class={isDangerous ? 'dangerous' : ''} aria-labelledby={id} onCancel={cancel} onClose={reopen}>
      <header>
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="button quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}

/** The focus to where it was before, which a browser does not do for a dialog that has left the page; else to the heading of the page. */
function giveBack(before: Element | null): void {
  if (before instanceof HTMLElement) before.focus()
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return
    const place = before?.isConnected ? before : document.querySelector('h1')
    if (place instanceof HTMLElement) place.focus()
  })
}
