import { useState } from 'preact/hooks'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Text } from '../../ui/text.tsx'

/** So many names are shown before somebody asks for more. */
const SHOWN = 40

interface NamesProps {
  of: readonly string[]
  /** Said where there is none. */
  none: string
  /** Where each leads. */
  to?: ((name: string) => string) | false
}

/** Names that a policy author gave. */
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
