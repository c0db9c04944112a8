import type { ButtonHTMLAttributes } from 'preact'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Label; one that is more than a text is given as children. */
  text?: string
  /** Appearance, such as `primary` or `quiet small`. */
  look?: string
}

export function Button({ text, look, children = text, type = 'button', ...rest }: ButtonProps) {
  return (
    <button type={type} class={look === undefined ? 'button' : `button ${look}`} {...rest}>
      {children}
    </button>
  )
}
