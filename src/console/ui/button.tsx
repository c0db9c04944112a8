import type { ButtonHTMLAttributes } from 'preact'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Label, for a button on one line; others have children. */
  text?: string
  /** Classes beside `button`, such as `primary small`. */
  look?: string
}

/** A button, which submits its form only if its type says so. */
export function Button({ text, look = '', children = text, type = 'button', ...rest }: ButtonProps) {
  return (
    <button type={type} class={`button ${look}`} {...rest}>
      {children}
    </button>
  )
}

/** The end of a dialog that has nothing more to ask. */
export function CloseFooter({ onClose, label = 'Close' }: { onClose: () => void; label?: string }) {
  return (
    <footer>
      <Button text={label} look="primary" onClick={onClose} />
    </footer>
  )
}
