import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useConsole } from '../../data/console.ts'
import { go } from '../../data/place.ts'
import { draftAddress, policyAddress } from '../../data/policy-address.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { Scroll } from '../../ui/scroll.tsx'
import { LongText, Text } from '../../ui/text.tsx'

/** Limit of lines drawn at once. */
const PAGE = 1000

interface FileTextProps {
  name: string
  text: string
  /** The wanted line, from 1; 0 for none. */
  line: number
}

/** A text by its lines. A long one is split: shows the part with the wanted line. */
export function FileText({ name, text, line }: FileTextProps) {
  const { may } = useConsole()
  const lines = useMemo(() => text.split(/\r?\n/), [text])
  const known = line >= 1 && line <= lines.length ? line : 0
  const [part, setPart] = useState(partWith(known))
  useEffect(() => {
    if (known > 0) setPart(partWith(known))
  }, [known])
  const first = Math.min(part, partWith(lines.length)) * PAGE
  const parts = lines.length > PAGE && <Parts part={first / PAGE} count={lines.length} onPart={setPart} />
  return (
    <section class="card file-text">
      <div class="row between">
        <h2>
          <Text of={name} />
        </h2>
        <span class="row">
          {may('dryRun') && (
            <Link to={draftAddress(name)} class="button small">
              Draft a change
            </Link>
          )}
          <GoToLine name={name} count={lines.length} line={known} />
          <CopyButton text={text} label={`Copy the text of the file`} />
        </span>
      </div>
      {line > lines.length && (
        <p class="notice" role="status">
          There is no line {countText(line)}: the file has {countText(lines.length)}. An earlier set may have had it.
        </p>
      )}
      {parts}
      <Lines name={name} lines={lines.slice(first, first + PAGE)} first={first} line={known} />
      {parts}
    </section>
  )
}

function partWith(line: number): number {
  return Math.floor(Math.max(0, line - 1) / PAGE)
}

interface LinesProps {
  name: string
  lines: readonly string[]
  /** Count of the lines before them. */
  first: number
  line: number
}

function Lines({ name, lines, first, line }: LinesProps) {
  const here = useRef<HTMLDivElement>(null)
  useEffect(() => here.current?.scrollIntoView({ block: 'center' }), [line, first])
  return (
    <Scroll class="box code" label="Text of the file">
      {lines.map((text, i) => {
        const number = first + i + 1
        const isHere = number === line
        return (
          <div
            key={number}
            ref={isHere ? here : null}
            class={`code-line ${isHere ? 'here' : ''}`}
            aria-current={isHere ? 'true' : undefined}
          >
            <button
              type="button"
              class="line-number"
              tabIndex={-1}
              aria-label={`Line ${number}`}
              onClick={() => go(policyAddress(name, number), 'replace')}
            >
              {number}
            </button>
            <LongText of={text} />
          </div>
        )
      })}
    </Scroll>
  )
}

/** The buttons keep the focus at the first and the last part. */
function Parts({ part, count, onPart }: { part: number; count: number; onPart: (part: number) => void }) {
  const first = part * PAGE
  const isFirst = part === 0
  const isLast = first + PAGE >= count
  return (
    <div class="row">
      <Button text="Earlier lines" look="small" aria-disabled={isFirst} onClick={() => isFirst || onPart(part - 1)} />
      <span class="small muted">
        Lines {countText(first + 1)} to {countText(Math.min(first + PAGE, count))} of {countText(count)}
      </span>
      <Button text="Later lines" look="small" aria-disabled={isLast} onClick={() => isLast || onPart(part + 1)} />
    </div>
  )
}

/** Goes to a line by keyboard, and puts a link to it into the address. */
function GoToLine({ name, count, line }: { name: string; count: number; line: number }) {
  const [entered, setEntered] = useState('')
  // Before it is painted: it takes nothing away that is typed at once.
  useLayoutEffect(() => setEntered(line === 0 ? '' : String(line)), [line])
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const wanted = Number(entered)
    if (Number.isInteger(wanted) && wanted >= 1) go(policyAddress(name, wanted), 'replace')
  }
  return (
    <form class="row go-to-line" onSubmit={submit}>
      <label>
        Line{' '}
        <input
          type="number"
          min={1}
          max={count}
          value={entered}
          onInput={(event) => setEntered(event.currentTarget.value)}
        />
      </label>
      <Button text="Go" type="submit" look="small" />
    </form>
  )
}
