import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { type Loaded, useLoad } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Await } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { Entries } from './entries.tsx'
import { NamedEntry } from './named-entry.tsx'
import { type Newest, newestOf } from './newest.ts'
import { VerifyRange } from './verify-range.tsx'

/** Kinds of events that the service streams. Entries of others appear with the next one of these. */
const STREAMED = ['gate', 'approval', 'outcome', 'killswitch', 'policy', 'key', 'session']

/** The audit trail: its state, its verification, and its entries. */
export function Trail() {
  const { gate, may } = useConsole()
  const named = usePlace().query.get('entry')
  const newest = useLoad(async (signal) => newestOf(await gate.audit.chain({ limit: 1 }, { signal })), [])
  useChanges(STREAMED, newest.reload)
  return (
    <>
      <PageHead title="Audit trail" tab="Audit">
        <Link class="button" to={addressOf(['audit', 'verify-bundle'])}>
          Verify a bundle
        </Link>
      </PageHead>
      <div class="stack">
        {named !== null && <NamedEntry id={named} />}
        <State newest={newest} />
        {may('auditVerifyLive') && <VerifyRange />}
        <Entries newest={newest.data} />
      </div>
    </>
  )
}

/** The length of the trail, and its newest entry. */
function State({ newest }: { newest: Loaded<Newest> }) {
  return (
    <section class="card" aria-labelledby="trail-state">
      <h2 id="trail-state">State</h2>
      <Await of={newest} what="the state of the trail">
        {({ total, entry }) => (
          <Facts
            of={{
              Entries: total.toLocaleString(),
              Newest: entry ? (
                <>
                  <Text of={entry.eventType} />
                  {`, number ${entry.seq.toLocaleString()}, `}
                  <Ago at={entry.timestamp} />
                </>
              ) : (
                <span class="muted">none yet</span>
              ),
            }}
          />
        )}
      </Await>
    </section>
  )
}
