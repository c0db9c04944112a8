import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../../ui/field.tsx'
import type { TextFault } from './dry-run-state.ts'

interface JsonFieldProps {
  label: string
  value: string
  fault: TextFault | undefined
  rows: number
  onValue: (value: string) => void
}

/** A field for JSON. The caret moves to a fault. */
export function JsonField({ label, value, fault, rows, onValue }: JsonFieldProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (fault === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(fault.index, fault.index + 1)
  }, [fault])
  return (
    <Field label={label} fault={fault?.text}>
      {(control) => (
        <textarea
          {...control}
          ref={area}
          class="mono"
          rows={rows}
          value={value}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
