import type { Answer } from '../../../client/answer.ts'
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
import { VerifyBundle } from './verify-bundle.tsx'
import { VerifyRange } from './verify-range.tsx'

export function AuditPage() {
  const { path } = usePlace()
  return path[1] === 'verify-bundle' ? <VerifyBundle /> : <Trail />
}

/** Kinds of events that the service streams. Entries of others appear with the next one of these. */
const STREAMED = ['gate', 'approval', 'outcome', 'killswitch', 'policy', 'key', 'session']

function Trail() {
  const { gate, may } = useConsole()
  const named = usePlace().query.get('entry')
  const newest = useLoad((signal) => gate.audit.chain({ limit: 1 }, { signal }), [])
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
        <Entries newestId={newest.data?.data[0]?.id} />
      </div>
    </>
  )
}

function State({ newest }: { newest: Loaded<Answer<'auditChain'>> }) {
  return (
    <section class="card" aria-labelledby="trail-state">
      <h2 id="trail-state">State</h2>
      <Await of={newest} what="the state of the trail">
        {({ data: [entry], page }) => (
          <Facts
            of={{
              Entries: page.total.toLocaleString(),
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
