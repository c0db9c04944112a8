import type { ShownValue } from '../../client/api.ts'
import { Beginning } from './text.tsx'

/** Limit of characters of a value in a line. */
const MAX_VALUE = 200

/** A fact's value, or the value that it is compared with, as JSON in one line. */
export function Shown({ of }: { of: ShownValue }) {
  const { beginning, characters } = of
  if (beginning === undefined)
    return (
      <code class="shown">
        <Beginning of={JSON.stringify(of.value) ?? 'nothing'} most={MAX_VALUE} />
      </code>
    )
  return (
    <>
      <code class="shown">
        <Beginning of={`${beginning}…`} most={MAX_VALUE} />
      </code>{' '}
      <span class="muted">({(characters ?? beginning.length).toLocaleString()} characters)</span>
    </>
  )
}
