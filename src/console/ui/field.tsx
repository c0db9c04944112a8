import { type ComponentChildren, h, type JSX } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: ComponentChildren
  hint?: ComponentChildren
  /** The fault of the entered value. */
  fault?: string | undefined
  /** Receives the attributes that tie the control to its label, hint and fault. */
  children: (control: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => JSX.Element
}

/** A control with its label, hint and fault. */
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
  /** Lines of a multi-line field. */
  rows?: number
  autoComplete?: string
  /** Turns off automatic correction, for exact text such as names. */
  isMono?: boolean
  /** Focuses the control on mount, as the first one of a dialog. */
  isFirst?: boolean
  /** Suggested values. */
  suggestions?: readonly string[]
}

/** A stable reference, so that it runs on mount and not at each rendering. */
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
        // JSX types know each input by its type only.
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
  /** Values with their labels. */
  options: readonly (readonly [value: T, label: string])[]
  onValue: (value: T) => void
}

/** A choice of one among a few. */
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
