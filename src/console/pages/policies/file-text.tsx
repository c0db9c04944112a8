import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
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
  const shown = lines.slice(first, first + PAGE)
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
          There is no line {countText(line)}: the file has {countText(lines.length)}. It may have been in a set before.
        </p>
      )}
      {lines.length > PAGE && <Parts {...{ part: first / PAGE, count: lines.length, onPart: setPart }} />}
      <Lines name={name} lines={shown} first={first} line={known} />
      {lines.length > PAGE && <Parts {...{ part: first / PAGE, count: lines.length, onPart: setPart }} />}
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

interface PartsProps {
  part: number
  count: number
  onPart: (part: number) => void
}

function Parts({ part, count, onPart }: PartsProps) {
  const first = part * PAGE
  return (
    <div class="row">
      <PartButton isPossible={part > 0} onClick={() => onPart(part - 1)}>
        Earlier lines
      </PartButton>
      <span class="small muted">
        Lines {countText(first + 1)} to {countText(Math.min(first + PAGE, count))} of {countText(count)}
      </span>
      <PartButton isPossible={first + PAGE < count} onClick={() => onPart(part + 1)}>
        Later lines
      </PartButton>
    </div>
  )
}

interface PartButtonProps {
  isPossible: boolean
  onClick: () => void
  children: string
}

/** The button keeps the focus at the first and the last part. */
function PartButton({ isPossible, onClick, children }: PartButtonProps) {
  return (
    <Button look="small" aria-disabled={!isPossible} onClick={() => isPossible && onClick()}>
      {children}
    </Button>
  )
}

/** Goes to a line by keyboard, and puts a link to it into the address. */
function GoToLine({ name, count, line }: { name: string; count: number; line: number }) {
  const [entered, setEntered] = useState('')
  useEffect(() => setEntered(line === 0 ? '' : String(line)), [line])
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
