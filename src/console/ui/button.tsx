import type { ButtonHTMLAttributes } from 'preact'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Classes beside `button`, such as `primary small`. */
  look?: string
}

/** A button, which submits its form only where its type says so. */
export function Button({ look = '', ...rest }: ButtonProps) {
  return <button type="button" class={`button ${look}`} {...rest} />
}

/** The end of a dialog that has nothing more to ask. */
export function CloseFooter({ onClose, label = 'Close' }: { onClose: () => void; label?: string }) {
  return (
    <footer>
      <Button look="primary" onClick={onClose}>
        {label}
      </Button>
    </footer>
  )
}
