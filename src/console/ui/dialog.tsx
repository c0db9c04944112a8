import type { ComponentChildren, TargetedEvent } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

interface DialogProps {
  title: string
  /** Marks an action that is hard to undo. */
  isDangerous?: boolean
  /** Called when the user closes it, by Esc too. It stays open while rendered, so that the owner can ask first. */
  onClose: () => void
  children: ComponentChildren
}

/** A modal question, until answered or closed. The focus stays inside, and then returns to its old place. */
export function Dialog({ title, isDangerous = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Opens before anything else can happen: the next typed key belongs to it.
  useLayoutEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    element?.showModal()
    // A browser would focus the close button first, and a typed space would close the dialog.
    element?.querySelector<HTMLElement>(':is(input, select, textarea):not(:disabled), h2')?.focus()
    return () => {
      element?.close()
      restoreFocus(before)
    }
  }, [])
  const cancel = (event: TargetedEvent<HTMLDialogElement>): void => {
    // Events of a file chooser inside bubble, and mean the chooser.
    if (event.target !== event.currentTarget) return
    event.preventDefault()
    onClose()
  }
  // Browsers close it at the second Esc in a row regardless; the owner decides here too.
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
        <Button look="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  )
}

/** Restores the focus, which browsers do not do for a removed dialog; else focuses the heading of the page. */
function restoreFocus(before: Element | null): void {
  if (before instanceof HTMLElement) before.focus()
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return
    const place = before?.isConnected ? before : document.querySelector('h1')
    if (place instanceof HTMLElement) place.focus()
  })
}
