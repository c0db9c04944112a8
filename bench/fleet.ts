import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../test/postgres-process.ts'
import { COMMAND, createKey, serve } from './gate.ts'
import { load } from './load.ts'
import { gateQuestion, type Question } from './payment.ts'
import { cpuMs, type Running, run, temporaryFolder } from './processes.ts'
import { quantile, round } from './stats.ts'

const SIDECARS = [1, 2, 4, 8]
const CONNECTIONS = 64
/** The same load on more sidecars, of one tenant and of eight; then as much load for each as one had. */
const SIZES: readonly Size[] = [
  ...SIDECARS.map((sidecars) => ({ sidecars, tenants: 1, connections: CONNECTIONS / sidecars })),
  ...SIDECARS.map((sidecars) => ({ sidecars, tenants: 8, connections: CONNECTIONS / sidecars })),
  ...SIDECARS.slice(1).map((sidecars) => ({ sidecars, tenants: 1, connections: CONNECTIONS })),
]
/** Each process has to compile its own code, and they share the processors. */
const WARM_UP_MS = 3000
const WARM_UP_OF_EACH_MS = 2000
const DURATION_MS = 6000
const STOPS = 20
const POLL_MS = 5
/** Of the way to the server, in one direction, where round trips are counted. */
const DELAY_MS = 20

interface FleetResult extends Omit<Size, 'delayMs'> {
  checksPerSecond: number
  p50Ms: number
  /** Of the sidecar where it is worst. */
  p99Ms: number
  errors: number
  /** Processor time of the sidecars for a check. */
  cpuMsPerCheck: number
  transactionsPerCheck: number
  walBytesPerCheck: number
}

interface StopResult {
  sidecars: number
  /** From the trigger's call until the last sidecar tells of the stop. */
  p50Ms: number
  p99Ms: number
}

export interface FleetResults {
  throughput: FleetResult[]
  stop: StopResult
  /** Times that a plain check goes to the server and back. */
  roundTrips: number
}

/** Sidecars on one PostgreSQL server, which waits for the disk: GATE_BENCH_POSTGRES_URL, or one that this starts. */
export async function measureFleet(): Promise<FleetResults> {
  const given = process.env.GATE_BENCH_POSTGRES_URL
  if (given !== undefined) return measureOn(given)
  const server = await startPostgres('durable')
  try {
    return await measureOn(server.url)
  } finally {
    await server.stop()
  }
}

async function measureOn(server: string): Promise<FleetResults> {
  const throughput: FleetResult[] = []
  for (const size of SIZES) {
    throughput.push(await withFleet(server, size, measureThroughput))
    const { sidecars, tenants, connections } = size
    process.stderr.write(`fleet: ${sidecars} sidecars, ${tenants} tenants, ${connections} connections each measured\n`)
  }
  const idle = { tenants: 1, connections: 0 }
  const stop = await withFleet(server, { ...idle, sidecars: 8 }, measureStop)
  const roundTrips = await withFleet(server, { ...idle, sidecars: 1, delayMs: DELAY_MS }, measureRoundTrips)
  return { throughput, stop, roundTrips }
}

interface Size {
  sidecars: number
  tenants: number
  /** Of each sidecar, shared among the agents of its tenants. */
  connections: number
  /** Delay of the way to the server and back, in each direction. */
  delayMs?: number
}

interface Fleet {
  size: Size
  sidecars: readonly (Running & { found: string })[]
  /** Of an agent of each tenant. */
  questions: readonly Question[]
  /** API key of an owner of the first tenant. */
  owner: string
  client: pg.Client
}

async function withFleet<T>(server: string, size: Size, measure: (fleet: Fleet) => Promise<T>): Promise<T> {
  const folder = temporaryFolder('fleet')
  const url = new URL(server)
  const name = `gate_bench_${process.pid}`
  await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await query(server, `CREATE DATABASE ${name}`)
  url.pathname = `/${name}`
  const password = join(folder, 'password')
  writeFileSync(password, decodeURIComponent(url.password), { mode: 0o600 })
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const bare = new URL(url.href)
  bare.password = ''
  const far = size.delayMs === undefined ? undefined : await delayed(bare, size.delayMs)
  const flags = ['--store', (far?.url ?? bare).href, '--store-password', password]
  await run(process.execPath, [COMMAND, 'store', 'migrate', ...flags])
  const fleet = await startFleet(folder, flags, size)
  try {
    return await measure({ ...fleet, size, client })
  } finally {
    await Promise.all(fleet.sidecars.map((sidecar) => sidecar.stop()))
    await client.end()
    far?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startFleet(folder: string, flags: readonly string[], { sidecars, tenants }: Size) {
  const names = Array.from({ length: tenants }, (_, i) => `t${i}`)
  const policies = join(folder, 'policies')
  const questions: Question[] = []
  for (const tenant of names) {
    mkdirSync(join(policies, tenant), { recursive: true })
    writeFileSync(join(policies, tenant, 'main.yaml'), policyOf(tenant))
    questions.push(gateQuestion((await createKey(join(folder, 'keys'), 'agent', tenant, flags)).key, tenant))
  }
  const owner = (await createKey(join(folder, 'keys'), 'owner', 't0', flags)).key
  const shared = [...flags, '--signing-key', join(folder, 'keys/signing-key.pem'), '--sweep', 'off']
  const folders = Array.from({ length: sidecars }, (_, i) => join(folder, `data-${i}`))
  return {
    sidecars: await Promise.all(folders.map((data) => serve(data, { policies, flags: shared }))),
    questions,
    owner,
  }
}

function policyOf(tenant: string): string {
  return `apiVersion: gate-sidecar/v1
tenant: ${tenant}
rules:
  - {id: large, actions: [payment.transfer], effect: deny, when: {fact: context.amount, operator: greaterThan, value: 50000}, reason: Large.}
  - {id: fine, actions: [payment.transfer], effect: allow, reason: Fine.}
`
}

async function measureThroughput({ size, sidecars, questions, client }: Fleet): Promise<FleetResult> {
  const warmUpMs = WARM_UP_MS + WARM_UP_OF_EACH_MS * size.sidecars
  const each = Math.max(1, Math.floor(size.connections / questions.length))
  const loads = sidecars.flatMap(({ found: url }) =>
    questions.map((question) => load({ url, question, connections: each, warmUpMs, durationMs: DURATION_MS })),
  )
  await sleep(warmUpMs)
  const before = await used(client, sidecars)
  const results = await Promise.all(loads)
  const after = await used(client, sidecars)
  const checks = results.reduce((sum, { requests }) => sum + requests, 0)
  return {
    ...{ sidecars: size.sidecars, tenants: size.tenants, connections: size.connections },
    checksPerSecond: Math.round((checks / DURATION_MS) * 1000),
    p50Ms: round(
      quantile(
        results.map(({ p50Ms }) => p50Ms).toSorted((a, b) => a - b),
        0.5,
      ),
      2,
    ),
    p99Ms: round(Math.max(...results.map(({ p99Ms }) => p99Ms)), 2),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
    cpuMsPerCheck: round((after.cpuMs - before.cpuMs) / checks, 4),
    transactionsPerCheck: round((after.transactions - before.transactions) / checks, 3),
    walBytesPerCheck: Math.round((after.walBytes - before.walBytes) / checks),
  }
}

async function used(client: pg.Client, sidecars: readonly Running[]) {
  const { rows } = await client.query<{ transactions: string; wal: string }>(
    `SELECT xact_commit AS transactions, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal
       FROM pg_stat_database WHERE datname = current_database()`,
  )
  return {
    cpuMs: sidecars.reduce((sum, sidecar) => sum + (cpuMs(sidecar.process) ?? Number.NaN), 0),
    transactions: Number(rows[0]?.transactions),
    walBytes: Number(rows[0]?.wal),
  }
}

/** The time until every sidecar tells of a stop that one of them was asked for. */
async function measureStop({ size, sidecars, owner }: Fleet): Promise<StopResult> {
  const headers = { 'x-api-key': owner, 'x-tenant-id': 't0', 'content-type': 'application/json' }
  const post = (url: string, path: string, body: object) =>
    fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify({ level: 'L3', scope: 't0', ...body }) })
  const isActive = async (url: string): Promise<boolean> => {
    const answer = (await (await fetch(`${url}/killswitch/status`, { headers })).json()) as {
      data: { active: boolean }
    }
    return answer.data.active
  }
  const until = async (active: boolean): Promise<void> => {
    for (const { found: url } of sidecars) while ((await isActive(url)) !== active) await sleep(POLL_MS)
  }
  const times: number[] = []
  for (let i = 0; i < STOPS; i += 1) {
    const url = sidecars[i % sidecars.length]?.found ?? ''
    const sinceMs = performance.now()
    await post(url, '/killswitch/trigger', { reason: 'drill', triggeredBy: 'bench' })
    await until(true)
    times.push(performance.now() - sinceMs)
    await post(url, '/killswitch/recover', { recoveredBy: 'bench', comment: 'over' })
    await until(false)
  }
  times.sort((a, b) => a - b)
  return { sidecars: size.sidecars, p50Ms: round(quantile(times, 0.5), 1), p99Ms: round(quantile(times, 0.99), 1) }
}

/** Round trips of a check, from its latency on a way that takes long. */
async function measureRoundTrips({ sidecars: [sidecar], questions: [question] }: Fleet): Promise<number> {
  if (sidecar === undefined || question === undefined) throw new Error('nobody is there')
  const options = { url: sidecar.found, question, connections: 1, warmUpMs: 3000, durationMs: 3000 }
  const { p50Ms } = await load(options)
  return round(p50Ms / (2 * DELAY_MS), 2)
}

/** A way to the server on which everything takes so long. */
async function delayed(to: URL, delayMs: number): Promise<{ url: URL; close(): void }> {
  const late = (from: Socket, target: Socket): void => {
    from.on('data', (chunk) => setTimeout(() => target.writable && target.write(chunk), delayMs))
    from.on('close', () => setTimeout(() => target.destroy(), delayMs))
    from.on('error', () => target.destroy())
  }
  const proxy = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: to.hostname, port: Number(to.port), noDelay: true })
    late(near, far)
    late(far, near)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const url = new URL(to.href)
  url.host = `127.0.0.1:${address.port}`
  return { url, close: () => void proxy.close() }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}
