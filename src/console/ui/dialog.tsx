import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  /** Drawn as something that cannot be undone lightly. */
  isDangerous?: boolean
  onClose: () => void
  children: ComponentChildren
}

/** A question before everything else, until it is answered or closed. The focus stays in it, and then goes back to where it was. */
export function Dialog({ title, isDangerous = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isThere = useRef(true)
  useEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    element?.showModal()
    return () => {
      isThere.current = false
      element?.close()
      // The browser does not, for a dialog that has left the page.
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  // Whether it closes is for the owner to say; but a browser that is asked twice closes it, and then the owner is told.
  const cancelled = (event: Event): void => {
    event.preventDefault()
    onClose()
  }
  return (
    <dialog
      ref={dialog}
      class={isDangerous ? 'dangerous' : ''}
      aria-labelledby={id}
      onCancel={cancelled}
      onClose={() => isThere.current && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
