import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { startBare } from './bare.ts'
import { type BesideResult, measureBeside } from './beside.ts'
import { startCerbos, type Target } from './cerbos.ts'
import { type EvidenceResult, measureEvidence } from './evidence.ts'
import { type FleetResults, measureFleet } from './fleet.ts'
import { type FollowResult, measureFollow } from './follow.ts'
import { startGate } from './gate.ts'
import { type GrowthResult, measureGrowth } from './growth.ts'
import { growthChart } from './growth-chart.ts'
import { type HostileResult, measureHostile } from './hostile/hostile.ts'
import type { LoadResult } from './load.ts'
import { loadInProcess } from './load-process.ts'
import { type MemoryResult, measureMemory } from './memory.ts'
import { type MicroResults, measureMicro } from './micro.ts'
import { measurePath, type PathResult } from './path.ts'
import { RESULTS, removeTemporaryFolders } from './processes.ts'
import { measureReload, type ReloadResult } from './reload.ts'
import { measureReplay, type ReplayResult } from './replay.ts'
import { measureServe, measureStart, type ServeStart, type StartResult } from './start.ts'
import { median, round } from './stats.ts'

const CONNECTIONS = [1, 32]
const ROUNDS = 5
const WARM_UP_MS = 1000
const DURATION_MS = 2500

interface Round extends LoadResult {
  /** CPU time of the server for one request: steadier than the rates when the machine is shared. */
  cpuMsPerRequest: number | null
}

interface Row {
  name: string
  connections: number
  rounds: Round[]
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  cpuMsPerRequest: number
  /** Processor time of the load for one request. */
  loadMsPerRequest: number
  errors: number
}

interface Comparison {
  rows: Row[]
  /** Shows that each server did keep its audit trail. */
  auditBytes: Record<string, number>
}

/**
 * Every round asks each server in turn, so that what else the machine does meets all alike; the
 * medians of the rounds count. Server and load share the machine: compare the rows of one run only.
 */
async function compare(starts: readonly (() => Promise<Target>)[]): Promise<Comparison> {
  const targets: Target[] = []
  const rows: Row[] = []
  const auditBytes: Record<string, number> = {}
  try {
    for (const start of starts) targets.push(await start())
    for (const connections of CONNECTIONS) rows.push(...(await compareAt(targets, connections)))
  } finally {
    for (const target of targets) auditBytes[target.name] = await target.stop()
  }
  return { rows, auditBytes }
}

async function compareAt(targets: readonly Target[], connections: number): Promise<Row[]> {
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]))
  for (let i = 0; i < ROUNDS; i += 1) {
    for (const [target, results] of rounds) results.push(await ask(target, connections))
  }
  return [...rounds].map(([target, results]) => row(target.name, connections, results))
}

async function ask(target: Target, connections: number): Promise<Round> {
  const { url, question } = target
  const before = target.cpuMs()
  const result = await loadInProcess({ url, question, connections, warmUpMs: WARM_UP_MS, durationMs: DURATION_MS })
  const after = target.cpuMs()
  const cpuMsPerRequest =
    before === undefined || after === undefined ? null : round((after - before) / result.requestsWithWarmUp, 4)
  return { ...result, cpuMsPerRequest }
}

function row(name: string, connections: number, rounds: Round[]): Row {
  const middle = (pick: (result: Round) => number) => median(rounds.map(pick))
  return {
    name,
    connections,
    rounds,
    perSecond: middle((result) => result.perSecond),
    p50Ms: middle((result) => result.p50Ms),
    p95Ms: middle((result) => result.p95Ms),
    p99Ms: middle((result) => result.p99Ms),
    cpuMsPerRequest: middle((result) => result.cpuMsPerRequest ?? Number.NaN),
    loadMsPerRequest: middle(({ loadCpuMs, requestsWithWarmUp }) => round(loadCpuMs / requestsWithWarmUp, 4)),
    errors: rounds.reduce((sum, result) => sum + result.errors, 0),
  }
}

function printRows(rows: readonly Row[]): void {
  console.log(
    `\n${'server'.padEnd(14)} conns  requests/s   p50 ms   p95 ms   p99 ms  CPU ms/request  of the load  errors`,
  )
  for (const { name, connections, perSecond, p50Ms, p95Ms, p99Ms, cpuMsPerRequest, loadMsPerRequest, errors } of rows) {
    const numbers = [p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(3).padStart(8))
    const line = [name.padEnd(14), String(connections).padStart(5), perSecond.toFixed(0).padStart(11), ...numbers]
    const cpu = [cpuMsPerRequest.toFixed(3).padStart(15), loadMsPerRequest.toFixed(3).padStart(12)]
    console.log([...line, ...cpu, String(errors).padStart(7)].join(' '))
  }
  const wrong = rows.flatMap(({ rounds }) => rounds.flatMap(({ firstError }) => firstError ?? []))
  if (wrong[0] !== undefined) console.log(`first error: ${wrong[0]}`)
}

function printRatio(rows: readonly Row[]): void {
  for (const connections of CONNECTIONS) {
    const at = (name: string) => rows.find((row) => row.name === name && row.connections === connections)
    const [ours, theirs] = [at('gate-sidecar'), at('cerbos')]
    if (ours === undefined || theirs === undefined) continue
    // Both were asked in each round.
    const rates = ours.rounds.map(({ perSecond }, i) => perSecond / (theirs.rounds[i]?.perSecond ?? Number.NaN))
    const [least, most] = [Math.min(...rates), Math.max(...rates)].map((rate) => rate.toFixed(2))
    const rate = `${median(rates).toFixed(2)} (${least} to ${most})`
    const cpu = (ours.cpuMsPerRequest / theirs.cpuMsPerRequest).toFixed(2)
    const p50 = (ours.p50Ms / theirs.p50Ms).toFixed(2)
    console.log(
      `gate-sidecar ÷ cerbos at ${connections} connections: requests/s ${rate}, CPU a request ${cpu}, p50 ${p50}`,
    )
  }
}

function printComparison({ rows, auditBytes }: Comparison): void {
  printRows(rows)
  printRatio(rows)
  console.log(`audit trail written, bytes: ${JSON.stringify(auditBytes)}`)
}

function printPath(path: readonly PathResult[]): void {
  const steps = Object.keys(path[0]?.steps ?? {})
  const row = (name: string, pick: (result: PathResult) => number | undefined) =>
    console.log(name.padEnd(20), ...path.map((result) => String(pick(result)).padStart(14)))
  console.log('\nµs of processor'.padEnd(21), ...path.map(({ connections }) => `${connections} conns`.padStart(14)))
  for (const step of steps) row(step, (result) => result.steps[step])
  row('all', ({ totalUs }) => totalUs)
}

interface Parts {
  path: PathResult[] | null
  micro: MicroResults | null
  reload: ReloadResult[] | null
  evidence: EvidenceResult | null
  commands: StartResult[] | null
  serve: ServeStart | null
  memory: MemoryResult | null
  follow: FollowResult[] | null
  hostile: HostileResult[] | null
  growth: GrowthResult[] | null
  fleet: FleetResults | null
  replay: ReplayResult[] | null
  beside: BesideResult[] | null
}

function save(comparison: Comparison, parts: Parts): void {
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, platform: process.platform }
  const settings = { rounds: ROUNDS, warmUpMs: WARM_UP_MS, durationMs: DURATION_MS, closedLoop: true }
  const result = { at: new Date().toISOString(), machine, settings, ...comparison, ...parts }
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(result, null, 2)}\n`)
}

const PARTS = [
  'cerbos',
  'gate',
  'express',
  'shadow',
  'bare',
  'path',
  'micro',
  'reload',
  'evidence',
  'start',
  'memory',
  'follow',
  'hostile',
  'growth',
  'fleet',
  'replay',
  'beside',
]
const USAGE = `Usage: npm run bench -- [--only <part>,…]\n\nParts: ${PARTS.join(', ')}\nExample: npm run bench -- --only cerbos,gate\n`

/** Parts to measure: all, or those of `--only`. */
function wantedParts([option, list, ...rest]: readonly string[]): readonly string[] {
  if (option === undefined) return PARTS
  const parts = list?.split(',') ?? []
  const isKnown =
    option === '--only' && rest.length === 0 && parts.length > 0 && parts.every((part) => PARTS.includes(part))
  if (isKnown) return parts
  const [stream, code] = option === '--help' ? ([process.stdout, 0] as const) : ([process.stderr, 2] as const)
  stream.write(USAGE)
  process.exit(code)
}

const parts = wantedParts(process.argv.slice(2))
const wanted = (part: string) => parts.includes(part)

removeTemporaryFolders()
const servers = [
  ...(wanted('cerbos') ? [startCerbos] : []),
  // Beside nothing, Cerbos says little.
  ...(wanted('gate') || wanted('cerbos') || wanted('shadow') ? [() => startGate()] : []),
  ...(wanted('express') ? [() => startGate('express')] : []),
  ...(wanted('shadow') ? [() => startGate('shadow')] : []),
  ...(wanted('bare') ? [() => startBare('node:http'), () => startBare('express')] : []),
]
const commands = wanted('start') ? await measureStart() : null
if (commands !== null) console.table(commands)
const serve = wanted('start') ? await measureServe() : null
if (serve !== null) console.table([serve])
const memory = wanted('memory') ? await measureMemory() : null
if (memory !== null) console.table([memory])
const comparison = await compare(servers)
if (servers.length > 0) printComparison(comparison)
const path = wanted('path') ? await measurePath() : null
if (path !== null) printPath(path)
const reload = wanted('reload') ? await measureReload() : null
if (reload !== null) console.table(reload)
const evidence = wanted('evidence') ? await measureEvidence() : null
if (evidence !== null) console.table(evidence)
const follow = wanted('follow') ? await measureFollow() : null
if (follow !== null) console.table(follow)
const hostile = wanted('hostile') ? await measureHostile() : null
if (hostile !== null) console.table(hostile.map(({ firstAnswer: _, ...rest }) => rest))
const growth = wanted('growth') ? await measureGrowth() : null
if (growth !== null) {
  console.table(growth)
  writeFileSync(join(RESULTS, 'growth.svg'), growthChart(growth))
}
const fleet = wanted('fleet') ? await measureFleet() : null
if (fleet !== null) {
  console.table(fleet.throughput)
  console.table([{ ...fleet.stop, roundTrips: fleet.roundTrips }])
}
const replay = wanted('replay') ? await measureReplay() : null
if (replay !== null) console.table(replay)
const beside = wanted('beside') ? await measureBeside() : null
if (beside !== null) console.table(beside)
save(comparison, {
  path,
  micro: wanted('micro') ? await measureMicro() : null,
  reload,
  evidence,
  commands,
  serve,
  memory,
  follow,
  hostile,
  growth,
  fleet,
  replay,
  beside,
})
if (comparison.rows.some(({ errors }) => errors > 0)) process.exitCode = 1
