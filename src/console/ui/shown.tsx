import type { ShownValue } from '../../client/api.ts'
import { LongText, Text } from './text.tsx'

/** A value as JSON, of a long one the beginning. */
export function Shown({ of }: { of: ShownValue }) {
  const { beginning, characters = 0 } = of
  if (beginning === undefined) return <LongText of={JSON.stringify(of.value) ?? ''} severalLines={false} />
  return (
    <>
      <Text of={beginning} />
      <span class="muted">{`… ${(characters - beginning.length).toLocaleString()} more characters`}</span>
    </>
  )
}
