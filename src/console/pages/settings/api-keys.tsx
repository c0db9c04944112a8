import { useState } from 'preact/hooks'
import type { ListedKey } from '../../../client/api.ts'
import { useNow } from '../../data/clock.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { Await, Empty } from '../../ui/states.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { Filters, isWanted, wantedIn } from './filters.tsx'
import { type ActOn, KeyTable } from './key-table.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

type Act = { what: 'create' } | { what: 'rotate' | 'revoke'; key: ListedKey }

/** Limit of keys shown before a click on more. */
const SHOWN = 100

/** The keys of the tenant, with their actions. */
export function ApiKeys() {
  const { gate, may } = useConsole()
  const keys = useLoad((signal) => gate.keys.list({ signal }), [])
  const [act, setAct] = useState<Act | undefined>()
  const end = (): void => {
    setAct(undefined)
    keys.reload()
  }
  return (
    <section class="stack" aria-labelledby="api-keys">
      <div class="row between loose">
        <h2 id="api-keys">API Keys</h2>
        {may('createKey') && (
          <button type="button" class="button primary" onClick={() => setAct({ what: 'create' })}>
            Create new key
          </button>
        )}
      </div>
      <Await of={keys} what="the keys">
        {(all) => <Listed all={all} onAct={(what, key) => setAct({ what, key })} />}
      </Await>
      {act?.what === 'create' && <CreateDialog keys={keys.data ?? []} onClose={end} onUnsure={keys.reload} />}
      {act?.what === 'rotate' && <RotateDialog of={act.key} onClose={end} onUnsure={keys.reload} />}
      {act?.what === 'revoke' && <RevokeDialog of={act.key} onClose={end} />}
    </section>
  )
}

function Listed({ all, onAct }: { all: readonly ListedKey[]; onAct: ActOn }) {
  const { query } = usePlace()
  const nowMs = useNow()
  const [isWhole, setIsWhole] = useState(false)
  const wanted = wantedIn(query)
  const found = all.filter((key) => isWanted(key, wanted, nowMs)).reverse()
  const shown = isWhole ? found : found.slice(0, SHOWN)
  return (
    <>
      <Filters wanted={wanted} all={all} nowMs={nowMs} />
      {shown.length === 0 ? (
        <Empty title="No key is like this.">
          {all.length === 0 ? (
            'Keys of the tenant are listed here. The first ones are made on the host: gate-sidecar keys create.'
          ) : (
            <button
              type="button"
              class="button quiet"
              onClick={() => go(addressOf(['settings', 'api-keys'], { state: 'all' }))}
            >
              Show all keys
            </button>
          )}
        </Empty>
      ) : (
        <KeyTable keys={shown} all={all} nowMs={nowMs} onAct={onAct} />
      )}
      {shown.length < found.length && (
        <div>
          <button type="button" class="button" onClick={() => setIsWhole(true)}>
            Show {found.length - shown.length} more
          </button>
        </div>
      )}
    </>
  )
}
