import { useState } from 'preact/hooks'
import { type AuditEntry, EVENTS } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Id } from '../../ui/copy.tsx'
import { hashFacts } from '../../ui/entry-hashes.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { Link } from '../../ui/link.tsx'
import { ActorName } from '../../ui/principal.tsx'
import { Beginning, Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'

const MEANINGS: ReadonlyMap<string, string> = new Map(Object.entries(EVENTS))

/** One line for an entry, which expands to all its contents. */
export function Entry({ of, isOpen = false }: { of: AuditEntry; isOpen?: boolean }) {
  // Closed entries are not rendered: data can be large.
  const [isSeen, setIsSeen] = useState(isOpen)
  const { seq, timestamp, eventType, actor, data } = of
  return (
    <details class="entry" open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setIsSeen(true)}>
      <summary class="entry-line">
        <span class="entry-seq number muted">{seq.toLocaleString()}</span>
        <Time at={timestamp} />
        <span class="entry-type">
          <Text of={eventType} />
        </span>
        <span class="entry-about">
          <Beginning of={aboutOf(data)} most={80} />
        </span>
        <span class="entry-actor muted">
          <Actor of={actor} />
        </span>
      </summary>
      {isSeen && <Opened of={of} />}
    </details>
  )
}

function Opened({ of }: { of: AuditEntry }) {
  const { id, eventType, data, actor } = of
  const { may } = useConsole()
  const meaning = MEANINGS.get(eventType)
  return (
    <div class="stack entry-body">
      <p class="muted">{meaning === undefined ? 'An entry written by a caller.' : sentenceOf(meaning)}</p>
      {eventType === 'gate.decision' && may('getDecision') && (
        <p>
          <Link to={addressOf(['decisions', id])}>The decision, with its request and reason</Link>
        </p>
      )}
      <div>
        <h3>Data</h3>
        {data === null ? <p class="muted">None, or erased.</p> : <JsonTree value={data} path="data" />}
      </div>
      <div>
        <h3>Actor</h3>
        {actor === null ? <p class="muted">None recorded.</p> : <JsonTree value={actor} path="actor" />}
      </div>
      <Facts of={{ Id: <Id of={id} what="the id of the entry" />, ...hashFacts(of) }} />
    </div>
  )
}

/** A meaning in a table of the service, as a sentence. */
export function sentenceOf(meaning: string): string {
  return `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}.`.replaceAll('`', '')
}

/** The action of an entry, or the first thing that it names. */
function aboutOf(data: AuditEntry['data']): string {
  const { changes } = data ?? {}
  const { action } = Object(changes)
  const names = [data?.action, action, data?.scope, data?.id, data?.eventType]
  return names.find((name) => typeof name === 'string') ?? ''
}

/** The actor in the entry, by its most telling name. */
function Actor({ of }: { of: AuditEntry['actor'] }) {
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const kind = ACTORS.find((each) => each === of?.kind)
  if (of === null || kind === undefined) return null
  return <ActorName of={{ kind, id: text(of.id) ?? '', identity: text(of.identity), name: text(of.name) }} />
}

const ACTORS = ['key', 'host', 'service'] as const
