import { useState } from 'preact/hooks'
import type { ListedKey } from '../../../client/api.ts'
import { useNow } from '../../data/clock.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { usePoll } from '../../data/poll.ts'
import { Button } from '../../ui/button.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { Filters, isWanted, wantedIn } from './filters.tsx'
import { RevokeDialog, RotateDialog } from './key-dialogs.tsx'
import { type ActOn, KeyTable } from './key-table.tsx'

type Act = { what: 'create' } | { what: 'rotate' | 'revoke'; key: ListedKey }

/** Limit of keys shown before a click on more. */
const SHOWN = 100

export function ApiKeys() {
  const { gate, may } = useConsole()
  const keys = useLoad((signal) => gate.keys.list({ signal }), [])
  // Keys have no events: others make, rotate and revoke them meanwhile.
  usePoll([], keys.poll)
  const [act, setAct] = useState<Act | undefined>()
  const end = (): void => {
    setAct(undefined)
    keys.reload()
  }
  return (
    <section class="stack" aria-labelledby="api-keys">
      <div class="row between loose">
        <h2 id="api-keys">API Keys</h2>
        {may('createKey') && <Button text="Create new key" look="primary" onClick={() => setAct({ what: 'create' })} />}
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
        <Empty title="No keys match.">
          {all.length === 0 ? (
            'Keys of the tenant are listed here. Create the first ones on the host: gate-sidecar keys create.'
          ) : (
            <Button
              look="quiet"
              onClick={() => go(addressOf(['settings', 'api-keys'], { state: 'all' }))}
              text="Show all keys"
            />
          )}
        </Empty>
      ) : (
        <KeyTable keys={shown} all={all} nowMs={nowMs} onAct={onAct} />
      )}
      {shown.length < found.length && (
        <div>
          <Button onClick={() => setIsWhole(true)}>Show {found.length - shown.length} more</Button>
        </div>
      )}
    </>
  )
}
