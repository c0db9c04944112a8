import type { TimelineItem } from '../../client/api.ts'
import { Text } from './text.tsx'

const KEY = /^key_[0-9a-hjkmnp-tv-z]{26}$/
/** The number of last characters of an id that tell keys apart. */
const END = 7

/** An actor: the unchanged name of a person or agent, or the end of a key's id. */
export function Principal({ of }: { of: string }) {
  if (!KEY.test(of)) return <Text of={of} />
  return (
    <code class="short-id" title={of}>
      <span aria-hidden="true">{`key_…${of.slice(-END)}`}</span>
      <span class="visually-hidden">{of}</span>
    </code>
  )
}

const HOST = /^host:(\d+|unknown)$/

/** The actor of an entry: a key, a user of the host's command line, or the service itself. */
export function ActorName({ of: { kind, id, identity, name } }: { of: NonNullable<TimelineItem['actor']> }) {
  if (kind === 'service') return <span class="badge">service</span>
  if (kind === 'host') return <HostUser id={id} />
  return <KeyHolder {...{ id, identity, name }} />
}

/** The holder of a key: its identity, else the key's name, labelled as such, else its id. */
export function KeyHolder({ id, identity, name }: { id: string; identity: string | null; name: string | null }) {
  if (identity !== null || name === null) return <Principal of={identity ?? id} />
  return (
    <>
      key “<Text of={name} />”
    </>
  )
}

/** The creator of something, which is either a key or `host:` with the number of a user. */
export function Maker({ id }: { id: string }) {
  return HOST.test(id) ? <HostUser id={id} /> : <Principal of={id} />
}

/** A command-line user: the service knows the host's user number, and no name. */
function HostUser({ id }: { id: string }) {
  const [, user] = HOST.exec(id) ?? []
  return (
    <span class="badge" title={`gate-sidecar on the command line of the host, recorded as ${id}`}>
      {user === undefined || user === 'unknown' ? 'host' : `host user ${user}`}
    </span>
  )
}
