import type { AuditEntry } from '../../../client/api.ts'
import type { Endpoints } from '../../../client/endpoints.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { Code } from '../../ui/code.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { Entry } from './entry.tsx'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID = /^aud_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/
/** An id is created shortly before its entry is written; later if the machine's clock went back. */
const BEFORE_MS = 60_000
const PORTION = 500

export function NamedEntry({ id }: { id: string }) {
  const { gate } = useConsole()
  const entry = useLoad(async (signal) => ({ found: await entryOf(gate, id, signal) }), [id])
  return (
    <section class="card" aria-labelledby="named-entry">
      <h2 id="named-entry">
        Entry <Code of={id} />
      </h2>
      <Await of={entry} what="the entry">
        {({ found }) =>
          found === undefined ? (
            <Empty title="Entry not found.">
              No entry of this tenant and environment has this id, or it was archived.
            </Empty>
          ) : (
            <Entry of={found} isOpen />
          )
        }
      </Await>
    </section>
  )
}

/** Ids begin with their time, which narrows the search. */
async function entryOf(gate: Endpoints, id: string, signal: AbortSignal): Promise<AuditEntry | undefined> {
  const [, digits] = ID.exec(id) ?? []
  if (digits === undefined) return undefined
  const ms = [...digits].reduce((value, digit) => value * 32 + ALPHABET.indexOf(digit), 0)
  const from = new Date(ms - BEFORE_MS)
  if (Number.isNaN(from.getTime())) return undefined
  for (let offset = 0; offset < 20 * PORTION; offset += PORTION) {
    const query = { from: from.toISOString(), order: 'asc', limit: PORTION, offset } as const
    const { data } = await gate.audit.chain(query, { signal })
    const found = data.find((entry) => entry.id === id)
    if (found !== undefined || data.length < PORTION) return found
  }
  return undefined
}
