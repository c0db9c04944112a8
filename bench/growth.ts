import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkpointer } from '../src/actions/evidence/checkpoints.ts'
import { openKeyring } from '../src/actions/evidence/signing-keys.ts'
import type { DecisionEntry } from '../src/audit/draft.ts'
import { idMaker, siblingId } from '../src/base/id.ts'
import { formatTimestamp } from '../src/base/time.ts'
import { sealKeysAt, signingKeyFile } from '../src/files/signing-key.ts'
import { randomPool } from '../src/store/random-pool.ts'
import { openStore } from '../src/store/sqlite/store.ts'
import { createKey, serve, TENANT } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { gateQuestion } from './payment.ts'
import { cpuMs, residentMb, temporaryFolder } from './processes.ts'
import { median, round } from './stats.ts'

const POLICIES = fileURLToPath(new URL('./policies/', import.meta.url))
const CHAIN = `${TENANT}/live`
const ENTRIES = [0, 100_000, 1_000_000, 2_000_000]
const COUNTS = [1, 10, 100, 1000]
const GROUP = 200
/** Entries between two checkpoints of the filling. */
const SIGNED_EVERY = 20_000
const ROUNDS = 5
const CONNECTIONS = 32

export interface GrowthResult {
  what: string
  count: number
  /** Elapsed time until the service listens. */
  startMs: number
  idleMb: number
  fileMb: number
  p50Ms: number
  p99Ms: number
  cpuMsPerCheck: number
}

/** A data folder with its agent's key, and policies. */
interface Scene {
  count: number
  data: string
  policies: string
  key: string
}

/**
 * Measures a service beside what it has: entries in its file, rules that ask about the action, tenants. Services of one
 * kind are asked in turn, in five rounds, of which the medians count.
 */
export async function measureGrowth(): Promise<GrowthResult[]> {
  const scenes: [what: string, make: () => Promise<Scene[]>][] = [
    ['entries', filled],
    ['rules', () => Promise.all(COUNTS.map((count) => withPolicies(count, { rules: count, tenants: 1 })))],
    ['tenants', () => Promise.all(COUNTS.map((count) => withPolicies(count, { rules: 6, tenants: count })))],
  ]
  const results: GrowthResult[] = []
  for (const [what, make] of scenes) results.push(...(await compared(what, await make())))
  return results
}

async function compared(what: string, scenes: readonly Scene[]): Promise<GrowthResult[]> {
  const running: { scene: Scene; server: Service; startMs: number; idleMb: number; rounds: Round[] }[] = []
  try {
    for (const scene of scenes) {
      const beganMs = performance.now()
      const server = await serve(scene.data, { policies: scene.policies, flags: ['--sweep', 'off'] })
      const startMs = performance.now() - beganMs
      running.push({ scene, server, startMs, idleMb: residentMb(server.process), rounds: [] })
    }
    for (let i = 0; i < ROUNDS; i += 1)
      for (const { scene, server, rounds } of running) rounds.push(await ask(scene, server))
  } finally {
    for (const { server } of running) await server.stop()
  }
  return running.map(({ scene, startMs, idleMb, rounds }) => {
    const fileMb = statSync(join(scene.data, 'gate-sidecar.db')).size / 1e6
    rmSync(scene.data, { recursive: true })
    return {
      what,
      count: scene.count,
      startMs: round(startMs, 0),
      idleMb: round(idleMb, 0),
      fileMb: round(fileMb, 0),
      p50Ms: round(median(rounds.map(({ p50Ms }) => p50Ms)), 2),
      p99Ms: round(median(rounds.map(({ p99Ms }) => p99Ms)), 2),
      cpuMsPerCheck: round(median(rounds.map(({ cpuMsPerCheck }) => cpuMsPerCheck)), 3),
    }
  })
}

type Service = Awaited<ReturnType<typeof serve>>

interface Round {
  p50Ms: number
  p99Ms: number
  cpuMsPerCheck: number
}

async function ask({ key }: Scene, { process, found: url }: Service): Promise<Round> {
  const before = cpuMs(process) ?? Number.NaN
  const question = gateQuestion(key, TENANT)
  const load = { url, question, connections: CONNECTIONS, warmUpMs: 1000, durationMs: 3000 }
  const { p50Ms, p99Ms, requestsWithWarmUp, errors, firstError } = await loadInProcess(load)
  if (errors > 0) throw new Error(`A check was not answered as expected: ${firstError}`)
  return { p50Ms, p99Ms, cpuMsPerCheck: ((cpuMs(process) ?? Number.NaN) - before) / requestsWithWarmUp }
}

/** Folders with so many decisions of the agent, lawful and signed as a service writes them: each a copy of one that grows. */
async function filled(): Promise<Scene[]> {
  const growing = temporaryFolder('growth')
  const { key, id: keyId } = await createKey(growing, 'agent')
  const scenes: Scene[] = []
  let entries = 0
  for (const count of ENTRIES) {
    await fill(growing, keyId, count - entries)
    entries = count
    const data = temporaryFolder('grown')
    cpSync(growing, data, { recursive: true })
    scenes.push({ count, data, policies: POLICIES, key })
  }
  rmSync(growing, { recursive: true })
  return scenes
}

async function fill(data: string, keyId: string, count: number): Promise<void> {
  const keyFile = join(data, 'signing-key.pem')
  const clock = Date.now
  const store = openStore({ dir: data, create: false, clock, sealKeys: sealKeysAt(keyFile) })
  const deps = { store, clock, newId: idMaker(clock, randomPool()) }
  const keyring = await openKeyring(deps, signingKeyFile(keyFile))
  const { signAll } = checkpointer({ ...deps, keyring, onFault: () => undefined })
  for (let n = 0; n < count; n += GROUP) {
    const entries = Array.from({ length: GROUP }, () => decision(deps.newId('decision'), keyId))
    const { conflict } = await store.commit({ guards: [], writes: [], entries })
    if (conflict !== null) throw new Error(`The entries were not written: ${conflict}`)
    if (n % SIGNED_EVERY === 0) await signAll()
  }
  await signAll()
  await store.close()
}

function decision(id: string, keyId: string): DecisionEntry {
  const { body } = gateQuestion('', TENANT)
  return {
    kind: 'decision',
    id: siblingId(id, 'entry'),
    chain: CHAIN,
    decision: { action: 'payment.transfer', decision: 'deny', id },
    request: JSON.parse(body),
    risk: { score: 6, factors: [{ name: 'amount', weight: 50, contribution: 6 }] },
    grounds: {
      approvalId: null,
      caller: { agent: keyId, keyId, roles: ['agent'] },
      decidedBy: 'default',
      domain: null,
      evaluatedAt: formatTimestamp(Date.now()),
      historyEnd: null,
      planValidated: true,
      policyDigest: null,
      reason: 'No rule allows this.',
      retry: 'never',
      rule: null,
      session: null,
      taken: null,
      unevaluable: [],
    },
  }
}

/** A new folder, with policies of so many tenants; those of the asking one have so many rules about its action. */
async function withPolicies(count: number, { rules, tenants }: { rules: number; tenants: number }): Promise<Scene> {
  const [data, policies] = [temporaryFolder('grown'), temporaryFolder('policies')]
  const { key } = await createKey(data, 'agent')
  for (let i = 0; i < tenants; i += 1) {
    const tenant = i === 0 ? TENANT : `tenant-${i}`
    mkdirSync(join(policies, tenant))
    writeFileSync(join(policies, tenant, 'main.yaml'), policyOf(tenant, rules))
  }
  return { count, data, policies, key }
}

/** One rule that allows, among others of two conditions each that do not hold. */
function policyOf(tenant: string, rules: number): string {
  const others = Array.from(
    { length: rules - 1 },
    (_, i) =>
      `  - {id: r${i}, actions: [payment.transfer], effect: deny, reason: R., when: {all: [{fact: context.country, operator: equal, value: C${i}}, {fact: context.amount, operator: greaterThan, value: ${i}}]}}\n`,
  )
  return `apiVersion: gate-sidecar/v1
tenant: ${tenant}
facts: {context.country: {type: string}, context.amount: {type: number}}
rules:
  - {id: allowed, actions: [payment.transfer], effect: allow, reason: Payments.}
${others.join('')}`
}
