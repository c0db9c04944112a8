import { useState } from 'preact/hooks'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Text } from '../../ui/text.tsx'

/** Limit of names shown before a click on more. */
const SHOWN = 40

interface NamesProps {
  of: readonly string[]
  /** Shown for an empty list. */
  none: string
  /** Address of each name. */
  to?: ((name: string) => string) | false
}

/** Names defined by a policy author. */
export function Names({ of, none, to = false }: NamesProps) {
  const [isWhole, setIsWhole] = useState(false)
  if (of.length === 0) return <span class="muted">{none}</span>
  const shown = isWhole ? of : of.slice(0, SHOWN)
  return (
    <>
      <ul class="row names links">
        {shown.map((name) => (
          <li key={name}>
            <code>
              {to ? (
                <Link to={to(name)}>
                  <Text of={name} />
                </Link>
              ) : (
                <Text of={name} />
              )}
            </code>
          </li>
        ))}
      </ul>
      {shown.length < of.length && (
        <button type="button" class="link small" onClick={() => setIsWhole(true)}>
          {countText(of.length - shown.length)} more
        </button>
      )}
    </>
  )
}
