import { Text } from './text.tsx'

const KEY = /^key_[0-9a-hjkmnp-tv-z]{26}$/
/** Of an id, as many last characters as tell keys apart. */
const END = 7

/** Who did something: the name of a person or agent as it is, or of the id of a key the end. */
export function Principal({ of }: { of: string }) {
  if (!KEY.test(of)) return <Text of={of} />
  return (
    <code class="short-id" title={of}>
      <span aria-hidden="true">{`key_…${of.slice(-END)}`}</span>
      <span class="visually-hidden">{of}</span>
    </code>
  )
}
