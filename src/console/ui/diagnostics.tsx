import { useEffect, useRef, useState } from 'preact/hooks'
import type { Diagnostic } from '../../client/api.ts'
import { nameOf } from '../data/policy-address.ts'
import { Button } from './button.tsx'
import { PolicyPlace } from './policy-place.tsx'
import { LongText, Text } from './text.tsx'

/** Limit of faults shown before a click on more. */
const SHOWN = 20
/** Marks are clipped to the text's width on the screen, where a character may be eight wide. */
const WIDEST = 8
const MOST_MARKS = 1000

interface DiagnosticsProps {
  of: readonly Diagnostic[]
  /** True when the texts are those of the source page. */
  isInForce: boolean
}

/** Faults and warnings of policies, each with its line. */
export function Diagnostics({ of, isInForce }: DiagnosticsProps) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? of : of.slice(0, SHOWN)
  return (
    <>
      <ol class="stack diagnostics">
        {shown.map((diagnostic, i) => (
          <li key={i} class={diagnostic.severity}>
            <One of={diagnostic} isInForce={isInForce} />
          </li>
        ))}
      </ol>
      {shown.length < of.length && (
        <Button look="small" onClick={() => setIsWhole(true)}>
          Show {of.length - shown.length} more
        </Button>
      )}
    </>
  )
}

function One({ of, isInForce }: { of: Diagnostic; isInForce: boolean }) {
  const { file, line, column, severity, code, message, suggestion } = of
  return (
    <>
      <p class="row baseline">
        <span class={`badge ${severity}`}>{severity}</span> <code>{code}</code>{' '}
        {isInForce ? (
          <PolicyPlace file={file} line={line} />
        ) : (
          <span class="policy-place mono links">
            <Text of={`${nameOf(file)}:${line}:${column}`} />
          </span>
        )}
      </p>
      <p>
        <LongText of={message} />
      </p>
      {suggestion !== null && (
        <p class="small">
          Did you mean{' '}
          <code>
            <LongText of={suggestion} severalLines={false} />
          </code>
          ?
        </p>
      )}
      <Excerpt of={of} />
    </>
  )
}

/**
 * The line, with `^~~~` under the fault. The marks are attached to the characters,
 * so that they line up after wide characters and code points too.
 */
function Excerpt({ of: { line, column, endColumn = column, excerpt, excerptColumn } }: { of: Diagnostic }) {
  const frame = useRef<HTMLPreElement>(null)
  const mark = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (frame.current === null || mark.current === null) return
    // Scrolls so that the fault is visible, with the text before it if there is room.
    const beyond = mark.current.offsetLeft + mark.current.offsetWidth - frame.current.clientWidth
    if (beyond > 0) frame.current.scrollLeft = beyond + frame.current.clientWidth / 3
  }, [excerpt, column])
  if (excerpt === null) return null
  const first = excerptColumn ?? 1
  const from = Math.max(0, column - first)
  const to = Math.max(from, endColumn - first)
  const marked = excerpt.slice(from, to)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard
    <pre ref={frame} class="excerpt" tabIndex={0}>
      <span class="line-number" aria-hidden="true">
        {line}
      </span>
      <span class="excerpt-line">
        {first > 1 && <span class="muted">…</span>}
        <Text of={excerpt.slice(0, from)} severalLines />
        <span ref={mark} class="marked">
          <Text of={marked} severalLines />
          <span class="marks" aria-hidden="true">
            {`^${'~'.repeat(Math.min(MOST_MARKS, Math.max(0, marked.length * WIDEST - 1)))}`}
          </span>
        </span>
        <Text of={excerpt.slice(to)} severalLines />
      </span>
    </pre>
  )
}
