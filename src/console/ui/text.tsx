import { useMemo, useState } from 'preact/hooks'
import { codePointOf, isReordered, type Part, visibleParts } from './visible.ts'

/** Limit of characters shown before a click on more. */
const SHOWN = 600
/** Hard limit of characters, since longer text would keep the browser busy. */
const MOST_SHOWN = 100_000

interface TextProps {
  /** Text by somebody else: an agent, a policy author, a caller. */
  of: string
  /** Keeps line breaks. */
  severalLines?: boolean
}

/**
 * Text of others, such as the name of an action. It is never markup; invisible characters and look-alike letters
 * appear as code points; and right-to-left text does not reorder its surroundings.
 */
export function Text({ of, severalLines = false }: TextProps) {
  const parts = useMemo(() => visibleParts(of, severalLines), [of, severalLines])
  return (
    <bdi dir="ltr" class={severalLines ? 'text lines' : 'text'}>
      {parts.map((part, i) => (part.kind === 'plain' ? part.text : <Marked key={i} of={part} />))}
      {isReordered(of) && (
        <span class="tag" title="Right-to-left letters: text between them may be drawn in another order">
          right to left
        </span>
      )}
    </bdi>
  )
}

function Marked({ of: { kind, text } }: { of: Part }) {
  const code = codePointOf(text)
  if (kind === 'break')
    return (
      <>
        <span class="line-break" aria-hidden="true">
          ↵
        </span>
        {text}
      </>
    )
  if (kind === 'hidden')
    return (
      <span class="hidden-char" title={`Invisible or control character ${code}`}>
        {code}
      </span>
    )
  return (
    <span class="lookalike" title={`${code}, which looks like another character`}>
      {text}
      <span class="visually-hidden">{` (${code})`}</span>
    </span>
  )
}

/** Words of ours and then a text of others, as parts of a sentence; nothing without the text. */
export function TextAfter({ words, of }: { words: string; of: string | null }) {
  if (of === null) return null
  return (
    <>
      {words}
      <Text of={of} />
    </>
  )
}

/** Long text of others: its beginning, the length of the rest, and a button to show it. */
export function LongText({ of, severalLines = true }: TextProps) {
  const [isWhole, setIsWhole] = useState(false)
  const limit = isWhole ? MOST_SHOWN : SHOWN
  if (of.length <= limit) return <Text of={of} severalLines={severalLines} />
  const beginning = beginningOf(of, limit)
  const rest = (of.length - beginning.length).toLocaleString()
  return (
    <>
      <Text of={beginning} severalLines={severalLines} />
      <span class="truncated">
        {isWhole ? (
          `… ${rest} more characters, only in the download`
        ) : (
          <>
            {`… ${rest} more characters `}
            <button type="button" class="link" onClick={() => setIsWhole(true)}>
              Show them
            </button>
          </>
        )}
      </span>
    </>
  )
}

/** The beginning of a text of others, for narrow places such as a row of a list. */
export function Beginning({ of, most }: { of: string; most: number }) {
  return <Text of={of.length <= most ? of : `${beginningOf(of, most)}…`} />
}

/** Never splits a surrogate pair. */
function beginningOf(text: string, limit: number): string {
  const isSplit = /[\ud800-\udbff]/.test(text[limit - 1] ?? '')
  return text.slice(0, isSplit ? limit - 1 : limit)
}
