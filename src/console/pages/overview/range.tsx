import { addressOf, go } from '../../data/place.ts'

/** Time ranges, as the address holds them. */
const RANGES = [
  { name: '1h', label: '1 hour', hours: 1 },
  { name: '24h', label: '24 hours', hours: 24 },
  { name: '7d', label: '7 days', hours: 168 },
] as const
export type Range = (typeof RANGES)[number]

/** Defaults to a day. */
export function rangeOf(query: URLSearchParams): Range {
  return RANGES.find(({ name }) => name === query.get('range')) ?? RANGES[1]
}

export function RangeChoice({ range }: { range: Range }) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Time that is looked at</legend>
      {RANGES.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          class="segment"
          aria-pressed={name === range.name}
          onClick={() => go(addressOf(['overview'], { range: name }), 'replace')}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}
