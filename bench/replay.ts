import { randomBytes } from 'node:crypto'
import { type Caller, type CheckDeps, callerOf } from '../src/actions/deps.ts'
import { check } from '../src/actions/gate/check.ts'
import { historyReader } from '../src/actions/gate/history.ts'
import { createKey } from '../src/actions/keys/keys.ts'
import { ensureTenant } from '../src/actions/keys/tenants.ts'
import { replayTrail } from '../src/actions/replay/replay.ts'
import { loadPolicySet } from '../src/authoring/load/load.ts'
import { idMaker } from '../src/base/id.ts'
import { LAST_TIME_MS } from '../src/base/time.ts'
import type { PolicySet } from '../src/policies/set.ts'
import { reachOf, replayHere } from '../src/replay/replay.ts'
import { openStore } from '../src/store/sqlite/store.ts'
import { payment } from './payment.ts'
import { temporaryFolder } from './processes.ts'
import { round } from './stats.ts'

const DECISIONS = 50_000
const AGENTS = 20
const AT_ONCE = 200
const HOST = { kind: 'host', id: 'host:0' } as const

const RULES = `
rules:
  - {id: sanctioned, actions: ["payment.*"], effect: deny, reason: R., when: {fact: context.country, operator: in, value: [IR, KP, SY]}}
  - {id: large, actions: ["payment.*"], effect: require_approval, reason: R., when: {fact: context.amount, operator: greaterThan, value: LIMIT}}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: R.}
`
const PLAIN = `
apiVersion: gate-sidecar/v1
tenant: bench
facts: {context.country: {type: string}, context.amount: {type: number}}
risk: [{name: amount, actions: ["payment.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 100000}}]
${RULES}`
const COUNTED = `
apiVersion: gate-sidecar/v1
tenant: bench
session: {fact: context.conversation, taken: {refunds: ["refund.*"]}}
history:
  count: {payments: {actions: ["payment.*"], within: 24h, by: agent}}
  sum: {paid: {actions: ["payment.*"], fact: context.amount, within: 1h, by: tenant}}
facts: {context.country: {type: string}, context.amount: {type: number}, context.conversation: {type: string}}
risk: [{name: amount, actions: ["payment.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 100000}}]
${RULES}
  - {id: many, actions: ["payment.*"], effect: deny, reason: R., when: {fact: history.count.payments, operator: greaterThan, value: 10000}}
  - {id: much, actions: ["payment.*"], effect: deny, reason: R., when: {fact: history.sum.paid, operator: greaterThan, value: 1000000}}
  - {id: refunded, actions: ["payment.*"], effect: deny, reason: R., when: {fact: session.taken.refunds, operator: equal, value: true}}
`

export interface ReplayResult {
  draft: string
  decisions: number
  changed: number
  /** Of elapsed time, and of one processor. */
  perSecond: number
  perProcessorSecond: number
}

/** Measures how many recorded decisions a draft decides again, in the process of the command. */
export async function measureReplay(): Promise<ReplayResult[]> {
  const store = openStore({ dir: temporaryFolder('replay'), create: true, clock: Date.now })
  const inForce = setOf(PLAIN, 1_000_000)
  const newId = idMaker(Date.now, randomBytes)
  const deps = { store, clock: Date.now, newId, policies: { get: () => inForce }, history: historyReader(store) }
  try {
    await record(deps)
    const results: ReplayResult[] = []
    for (const [draft, set, history] of [
      ['without history', setOf(PLAIN, 1200), 'recorded'],
      ['with a count, a sum and sessions', setOf(COUNTED, 1200), 'recorded'],
      ['by its own history', setOf(COUNTED, 1200), 'draft'],
    ] as const) {
      const before = process.cpuUsage()
      const started = performance.now()
      const request = { trail: 'bench/live', fromMs: 0, toMs: LAST_TIME_MS, history }
      const report = await replayTrail(store, request, { reachMs: reachOf(set), start: replayHere(set) })
      const seconds = (performance.now() - started) / 1000
      const { user, system } = process.cpuUsage(before)
      const processorSeconds = (user + system) / 1_000_000
      const changed = report.changes.length + report.changesLeftOut
      const { decided: decisions } = report
      const [perSecond, perProcessorSecond] = [decisions / seconds, decisions / processorSeconds].map((n) =>
        round(n, 0),
      )
      results.push({
        draft,
        decisions,
        changed,
        perSecond: perSecond ?? 0,
        perProcessorSecond: perProcessorSecond ?? 0,
      })
    }
    return results
  } finally {
    await store.close()
  }
}

function setOf(text: string, limit: number): PolicySet {
  const bytes = Buffer.from(text.replace('LIMIT', String(limit)))
  const { set, diagnostics } = loadPolicySet({
    tenant: 'bench',
    files: [{ name: 'main.yaml', bytes }],
    lists: new Map(),
    ignored: [],
  })
  if (set === undefined) throw new Error(JSON.stringify(diagnostics))
  return set
}

/** Records payments of several agents, as a busy service would. */
async function record(deps: CheckDeps): Promise<void> {
  await ensureTenant(deps, HOST, 'bench')
  const callers: Caller[] = []
  for (let i = 0; i < AGENTS; i += 1) {
    const made = await createKey(deps, { actor: HOST, caller: undefined }, 'bench', { roles: ['agent'] })
    const key = deps.store.state().keys.get(made.id)
    if (key === undefined) throw new Error('the key was not made')
    callers.push(callerOf(key, 'bench'))
  }
  for (let done = 0; done < DECISIONS; done += AT_ONCE)
    await Promise.all(requests(done).map((asked, i) => ask(asked, i)))

  function ask(context: typeof payment, i: number) {
    const caller = callers[i % AGENTS]
    if (caller === undefined) throw new Error('there are agents')
    return check(deps, caller, { tenantId: 'bench', action: 'payment.transfer', context })
  }
}

/** Payments of which every tenth is larger than the limit of the drafts. */
function requests(done: number): (typeof payment)[] {
  return Array.from({ length: AT_ONCE }, (_, i) => ({
    ...payment,
    amount: i % 10 === 0 ? 1200.5 : 12.5,
    conversation: `conversation ${Math.floor((done + i) / 50)}`,
  }))
}
