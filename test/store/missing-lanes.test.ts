import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { outcomeWatch } from '../../src/actions/outcomes/missing.ts'
import { sectionValue } from '../../src/audit/entry.ts'
import { idMaker } from '../../src/base/id.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { postgresDatabase } from '../postgres.ts'
import { aDecision, commit, enrolment, LIVE, note, only, START_MS } from './drafts.ts'

const SIDECARS = 4
const WITHIN_MS = 1000

test('sidecars that search at the same time record each missing outcome once, in whichever lane its allow stands', async (t) => {
  const address = { url: await postgresDatabase(t) }
  const sealKeys = sealKeysAt(join(temporaryFolder(), 'signing-key.pem'))
  const time = { ms: START_MS }
  const clock = () => time.ms
  const open = async (lanes: boolean): Promise<Store> => {
    const store = await openServerStore({ address, clock, sealKeys, lanes })
    t.after(() => store.close())
    return store
  }
  await commit(await open(false), enrolment())
  const sidecars = await Promise.all(Array.from({ length: SIDECARS }, () => open(true)))
  const [one, two] = [sidecars[0] ?? assert.fail(), sidecars[1] ?? assert.fail()]
  const allow = async (store: Store): Promise<string> => {
    const entry = aDecision('allow')
    await commit(store, { guards: [], writes: [], entries: [entry] })
    return entry.decision.id
  }
  const decisionId = await allow(one)
  await commit(two, only(note({ decisionId, reportedBy: 'key_a' }, { type: 'outcome.recorded' })))
  time.ms += 1
  const silent = await Promise.all(sidecars.flatMap((store) => Array.from({ length: 60 }, () => allow(store))))
  time.ms += WITHIN_MS + 1
  const newId = idMaker(clock, randomBytes)
  const noticed: string[] = []
  const options = {
    withinMs: WITHIN_MS,
    onMissing: (_: string, missing: readonly { decisionId: string }[]) => {
      noticed.push(...missing.map((each) => each.decisionId))
    },
  }
  await Promise.all(sidecars.map((store) => outcomeWatch({ store, clock, newId }, options)()))
  const recorded: string[] = []
  for (const chain of await one.lanes(LIVE))
    for (const entry of await one.entriesFrom(chain, 0, 1000))
      if (entry.header.type === 'outcome.missing') recorded.push(String(sectionValue(entry, 'data')?.decisionId))
  assert.deepEqual(recorded.sort(), silent.sort())
  assert.deepEqual(noticed.sort(), silent)
})
