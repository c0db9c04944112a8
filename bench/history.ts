import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Caller, type CheckDeps, callerOf } from '../src/actions/deps.ts'
import { check } from '../src/actions/gate/check.ts'
import { historyReader } from '../src/actions/gate/history.ts'
import { createKey } from '../src/actions/keys/keys.ts'
import { ensureTenant } from '../src/actions/keys/tenants.ts'
import { loadPolicySet } from '../src/authoring/load/load.ts'
import { idMaker } from '../src/base/id.ts'
import { openStore } from '../src/store/sqlite/store.ts'
import { temporaryFolder } from './processes.ts'
import { median, round } from './stats.ts'

/** Allowed actions that lie in the window already. */
const BEFORE = 100_000
const CHECKS = 300
const HOST = { kind: 'host', id: 'host:0' } as const

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: bench
history:
  count: {payments: {actions: ["payment.*"], within: 24h, by: agent}}
  sum: {paid: {actions: ["payment.*"], fact: context.amount, within: 24h, by: tenant}}
facts: {context.amount: {type: number, default: 0}}
rules:
  - {id: all, actions: ["**"], effect: allow, reason: R.}
  - id: limit
    actions: [payment.counted]
    effect: deny
    reason: R.
    when: {any: [{fact: history.count.payments, operator: greaterThan, value: 1000000}, {fact: history.sum.paid, operator: greaterThan, value: 1000000000}]}
`

export interface HistoryResult {
  before: number
  /** Medians of single checks, one after the other. */
  plainMs: number
  countedMs: number
  /** First check of a process, which reads the window, and the longest time for which it blocked the event loop. */
  firstMs: number
  firstStallMs: number
}

/** Measures the cost of counting: checks with a count and a sum over many earlier actions, beside checks without. */
export async function measureHistory(): Promise<HistoryResult> {
  const store = openStore({ dir: temporaryFolder('history'), create: true, clock: Date.now })
  const files = [{ name: 'main.yaml', bytes: Buffer.from(POLICY) }]
  const { set } = loadPolicySet({ tenant: 'bench', files, lists: new Map(), ignored: [] })
  const newId = idMaker(Date.now, randomBytes)
  const deps = { store, clock: Date.now, newId, policies: { get: () => set }, history: historyReader(store) }
  try {
    const caller = await makeCaller(deps)
    await allow(deps, caller)
    const stall = monitorEventLoopDelay({ resolution: 1 })
    stall.enable()
    const firstMs = await timed(deps, caller, 'payment.counted')
    stall.disable()
    const [plain, counted]: [number[], number[]] = [[], []]
    for (let i = 0; i < CHECKS; i += 1) {
      plain.push(await timed(deps, caller, 'payment.plain'))
      counted.push(await timed(deps, caller, 'payment.counted'))
    }
    const [plainMs, countedMs] = [round(median(plain)), round(median(counted))]
    return { before: BEFORE, plainMs, countedMs, firstMs: round(firstMs, 0), firstStallMs: round(stall.max / 1e6, 1) }
  } finally {
    await store.close()
  }
}

async function makeCaller(deps: CheckDeps): Promise<Caller> {
  await ensureTenant(deps, HOST, 'bench')
  const { id } = await createKey(deps, { actor: HOST, caller: undefined }, 'bench', { roles: ['agent'] })
  const key = deps.store.state().keys.get(id)
  if (key === undefined) throw new Error('the key was not made')
  return callerOf(key, 'bench')
}

/** Makes the earlier, allowed actions in groups, as a busy service would. */
async function allow(deps: CheckDeps, caller: Caller): Promise<void> {
  const request = { tenantId: 'bench', action: 'payment.plain', context: { amount: 1.5 } }
  for (let done = 0; done < BEFORE; done += 200)
    await Promise.all(Array.from({ length: 200 }, () => check(deps, caller, request)))
}

async function timed(deps: CheckDeps, caller: Caller, action: string): Promise<number> {
  const started = performance.now()
  await check(deps, caller, { tenantId: 'bench', action, context: { amount: 1.5 } })
  return performance.now() - started
}
