import { type ComponentChildren, h, type JSX } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: ComponentChildren
  hint?: ComponentChildren
  /** What is wrong with what was entered. */
  fault?: string | undefined
  /** Given the attributes that tie the control to its label, hint and fault. */
  children: (control: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => JSX.Element
}

/** A control with its label, a hint, and what is wrong with it. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': fault !== undefined })}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} class="fault">
          {fault}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string
  onValue: (value: string) => void
  type?: 'text' | 'password' | 'search' | 'date' | 'number' | 'datetime-local'
  placeholder?: string
  isRequired?: boolean
  maxLength?: number
  /** More than one line. */
  rows?: number
  autoComplete?: string
  /** For what is compared letter by letter, such as names: no keyboard corrects it. */
  isMono?: boolean
  /** The focus goes there when it comes: what one does first in a question. */
  isFirst?: boolean
  /** What can be chosen instead of typing it. */
  suggestions?: readonly string[]
}

/** Stable, so that it is called when the control comes and not at each rendering. */
const focusOn = (control: HTMLElement | null): void => control?.focus()

export function TextField({ value, onValue, type = 'text', rows, isRequired, isMono, ...rest }: TextFieldProps) {
  const { label, hint, fault, isFirst, suggestions, ...others } = rest
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => {
        const common = {
          ...{ ...control, ...others, value, required: isRequired ?? false, class: isMono ? 'mono' : '' },
          ...(isFirst && { ref: focusOn }),
        }
        if (rows !== undefined)
          return <textarea {...common} rows={rows} onInput={(event) => onValue(event.currentTarget.value)} />
        // JSX knows inputs of one type each only.
        const exact = isMono ? { autocapitalize: 'none', autocorrect: 'off' } : {}
        const list = suggestions && `${control.id}-list`
        const input = h('input', {
          ...{ ...common, ...exact, type, list, spellcheck: false },
          onInput: (event: Event) => onValue(textIn(event)),
        })
        if (suggestions === undefined) return input
        return (
          <>
            {input}
            <datalist id={list}>
              {suggestions.map((suggestion) => (
                <option key={suggestion} value={suggestion} />
              ))}
            </datalist>
          </>
        )
      }}
    </Field>
  )
}

function textIn({ currentTarget }: Event): string {
  return currentTarget instanceof HTMLInputElement ? currentTarget.value : ''
}

interface ChoiceProps<T extends string> extends Omit<FieldProps, 'children'> {
  value: T
  /** What can be chosen, and how it is called. */
  options: readonly (readonly [value: T, label: string])[]
  onValue: (value: T) => void
}

/** One of a few. */
export function Choice<T extends string>({ value, options, onValue, label, hint, fault }: ChoiceProps<T>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select
          {...control}
          value={value}
          onChange={(event) => onValue(options[event.currentTarget.selectedIndex]?.[0] ?? value)}
        >
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
