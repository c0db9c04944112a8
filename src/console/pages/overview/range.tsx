import { addressOf, go } from '../../data/place.ts'
import { Segments } from '../../ui/segments.tsx'

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
    <Segments
      legend="Period"
      options={RANGES.map(({ name, label }) => ({
        name: label,
        isChosen: name === range.name,
        onChoose: () => go(addressOf(['overview'], { range: name }), 'replace'),
      }))}
    />
  )
}
