import type { TimelineItem } from '../../client/api.ts'
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

const HOST = /^host:(\d+|unknown)$/

/** Who caused an entry: by a key, at the command line of the host, or the service of its own accord. */
export function ActorName({ of: { kind, id, identity, name } }: { of: NonNullable<TimelineItem['actor']> }) {
  if (kind === 'service') return <span class="badge">service</span>
  if (kind === 'host') return <HostUser id={id} />
  return <KeyHolder {...{ id, identity, name }} />
}

/** Who holds a key: by its identity, else by the name that somebody gave the key, which is said to be one, else by its id. */
export function KeyHolder({ id, identity, name }: { id: string; identity: string | null; name: string | null }) {
  if (identity !== null || name === null) return <Principal of={identity ?? id} />
  return (
    <>
      key “<Text of={name} />”
    </>
  )
}

/** Who made something, where that is either a key or `host:` with the number of a user. */
export function Maker({ id }: { id: string }) {
  return HOST.test(id) ? <HostUser id={id} /> : <Principal of={id} />
}

/** Somebody at the command line: the service knows the number of the user that the host gives, and no name. */
function HostUser({ id }: { id: string }) {
  const [, user] = HOST.exec(id) ?? []
  return (
    <span class="badge" title={`gate-sidecar on the command line of the host, recorded as ${id}`}>
      {user === undefined || user === 'unknown' ? 'host' : `host user ${user}`}
    </span>
  )
}
