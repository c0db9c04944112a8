import { serverNow } from '../../data/clock.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { zoneName } from '../../ui/local-time.ts'
import { Time } from '../../ui/time.tsx'

const DAY_MS = 86_400_000

const KINDS = [
  ['none', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['date', 'On a date…'],
] as const

/** The end of a key: never, after some days, or with a calendar day. */
export interface Expiry {
  kind: (typeof KINDS)[number][0]
  /** `2026-12-31`, where the kind is `date`. */
  date: string
}

/** RFC 3339; undefined for a key without an end, or without a date yet. */
export function expiresAtOf({ kind, date }: Expiry): string | undefined {
  if (kind === 'none') return undefined
  const end = kind === 'date' ? new Date(`${date}T23:59:59`) : new Date(serverNow() + Number(kind) * DAY_MS)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}

interface ExpiryFieldsProps {
  value: Expiry
  onValue: (expiry: Expiry) => void
  fault: string | undefined
}

export function ExpiryFields({ value, onValue, fault }: ExpiryFieldsProps) {
  const end = expiresAtOf(value)
  const isDate = value.kind === 'date'
  return (
    <>
      <Choice
        label="Expires"
        value={value.kind}
        options={KINDS}
        onValue={(kind) => onValue({ ...value, kind })}
        hint={end ? <Ends at={end} /> : 'A key that expires does no harm when it is forgotten.'}
        fault={isDate ? undefined : fault}
      />
      {isDate && (
        <TextField
          label={`Last day (${zoneName()})`}
          type="date"
          value={value.date}
          onValue={(date) => onValue({ ...value, date })}
          isRequired
          fault={fault}
        />
      )}
    </>
  )
}

function Ends({ at }: { at: string }) {
  return (
    <>
      It ends <Time at={at} />.
    </>
  )
}
