import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { basename, join } from 'node:path'
import { createKey, serve, TENANT } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { gateQuestion } from './payment.ts'
import { ROOT, temporaryFolder, threadCpuMs } from './processes.ts'
import { round } from './stats.ts'

/**
 * What each step of a check costs the processor. The operating system counts the processor time of the event loop's
 * thread and of the others while the built service answers. Then it runs again with V8's sampling profiler: each sample
 * belongs to the innermost function on its stack whose source file STEPS names, and the shares of the samples divide
 * what was counted. Samples are of time, and a thread that waits for the disk is sampled too: where commits are written
 * on the event loop, the time beyond what was counted is taken from `commit`.
 */
export interface PathResult {
  connections: number
  /** Microseconds of processor for one check, by step of the event loop's thread, then by thread. */
  steps: Record<string, number>
  totalUs: number
}

const OTHER = 'other'
const COMMIT = 'commit'
const IDLE = ['(idle)', '(root)']
const CONNECTIONS = [1, 32]
const WARM_UP_MS = 5000
const DURATION_MS = 10_000
const INTERVAL_US = 400

/** Source files of each step, by the beginning of their path; the longest that fits counts. */
const STEPS: readonly (readonly [step: string, ...paths: string[]])[] = [
  ['Node.js and system', 'node:', '(program)'],
  ['admit', 'src/http/', 'src/keys/', 'src/actions/keys/', 'src/actions/deps', 'src/base/host', 'src/service/key-uses'],
  ['parse', 'src/http/body', 'src/base/json', 'src/base/decimal'],
  ['validate', 'src/base/schema', 'src/policies/validators', 'ajv', 're2js'],
  ['facts', 'src/gate/facts', 'src/gate/history', 'src/actions/gate/history'],
  ['evaluate', 'src/policies/', 'src/base/glob', 'src/base/work', 'json-rules-engine'],
  ['decide', 'src/gate/', 'src/actions/gate/', 'src/actions/idempotency', 'src/killswitch/'],
  ['prepare', 'src/audit/draft', 'src/base/canonical'],
  [COMMIT, 'src/store/', 'src/audit/', 'src/workers/', 'src/service/writing', 'better-sqlite3'],
  ['tree', 'src/actions/evidence/', 'src/audit/merkle', 'src/evidence/'],
  ['answer', 'src/http/reply', 'src/actions/gate/answer'],
  ['background', 'src/service/', 'src/actions/'],
  ['garbage collection', '(garbage collector)'],
]

interface Profile {
  nodes: readonly Node[]
  samples: readonly number[]
  timeDeltas: readonly number[]
  startTime: number
  endTime: number
}

interface Node {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number }
  children?: readonly number[]
}

export async function measurePath(): Promise<PathResult[]> {
  const results: PathResult[] = []
  for (const connections of CONNECTIONS) results.push(await measure(connections))
  return results
}

async function measure(connections: number): Promise<PathResult> {
  const counted = await run(connections)
  const sampled = await run(connections, INTERVAL_US)
  const [main, ...threads] = sampled.samples
  if (main === undefined) throw new Error('There is no profile.')
  const onLoop = stepsOf(main, counted, sampled.requests)
  const written = Math.max(0, ...threads.map((samples) => sampledUs(samples, sampled.requests)))
  const writerUs = Math.min(round(written, 1), counted.othersUs)
  const steps = { ...onLoop, 'writing thread': writerUs, "V8's threads": round(counted.othersUs - writerUs, 1) }
  return { connections, steps, totalUs: round(counted.mainUs + counted.othersUs, 1) }
}

/** Divides what was counted for the event loop's thread. */
function stepsOf(samples: Samples, { mainUs }: Counted, requests: number): Record<string, number> {
  const us = new Map([...samples].map(([step, count]) => [step, (count * INTERVAL_US) / requests]))
  const allUs = sampledUs(samples, requests)
  const commitUs = us.get(COMMIT) ?? 0
  // Most of a commit on the event loop is waiting.
  const waitedUs = commitUs > allUs / 3 ? Math.min(commitUs, Math.max(0, allUs - mainUs)) : 0
  us.set(COMMIT, commitUs - waitedUs)
  const share = mainUs / (allUs - waitedUs)
  return Object.fromEntries(
    [...STEPS.map(([step]) => step), OTHER].map((step) => [step, round((us.get(step) ?? 0) * share, 1)]),
  )
}

function sampledUs(samples: Samples, requests: number): number {
  return ([...samples.values()].reduce((sum, count) => sum + count, 0) * INTERVAL_US) / requests
}

/** Processor time of one check. */
interface Counted {
  mainUs: number
  othersUs: number
}

interface Run extends Counted {
  requests: number
  /** Of each thread, that of the event loop first; none without an interval. */
  samples: Samples[]
}

async function run(connections: number, intervalUs?: number): Promise<Run> {
  const data = temporaryFolder('path')
  const profiles = temporaryFolder('profiles')
  const { key } = await createKey(data, 'agent')
  const profiler = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-interval=${intervalUs}`]
  const server = await serve(data, { node: intervalUs === undefined ? [] : profiler })
  const asked = { url: server.found, question: gateQuestion(key, TENANT), connections, warmUpMs: 0 }
  await loadInProcess({ ...asked, durationMs: WARM_UP_MS })
  const before = threadCpuMs(server.process)
  const { requestsWithWarmUp: requests } = await loadInProcess({ ...asked, durationMs: DURATION_MS })
  const after = threadCpuMs(server.process)
  await server.stop()
  const found = profilesIn(profiles)
  // The clock of all threads is the same.
  const untilUs = found[0]?.endTime ?? 0
  const samples = found.map((profile) => samplesIn(profile, untilUs))
  for (const folder of [data, profiles]) rmSync(folder, { recursive: true })
  if (before === undefined || after === undefined) throw new Error('The system does not tell the time of threads.')
  const perCheck = (ms: number): number => round((ms * 1000) / requests, 1)
  return {
    requests,
    samples,
    mainUs: perCheck(after.main - before.main),
    othersUs: perCheck(after.others - before.others),
  }
}

/** Profiles of all threads, that of the event loop first. */
function profilesIn(folder: string): Profile[] {
  const threadOf = (name: string): number => Number(name.split('.')[4])
  return readdirSync(folder)
    .sort((a, b) => threadOf(a) - threadOf(b))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile)
}

/** Number of samples by step, without those in which the thread had nothing to do. */
type Samples = ReadonlyMap<string, number>

function samplesIn({ nodes, samples, timeDeltas, startTime }: Profile, untilUs: number): Samples {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const stepOfNode = new Map<number, string>()
  const stepAt = (id: number): string => {
    const known = stepOfNode.get(id)
    if (known !== undefined) return known
    const node = byId.get(id)
    const parent = parentOf.get(id)
    const found = (node && stepOf(node.callFrame)) ?? (parent === undefined ? OTHER : stepAt(parent))
    stepOfNode.set(id, found)
    return found
  }
  const busy = new Map<string, number>()
  const fromUs = untilUs - DURATION_MS * 1000
  let atUs = startTime
  for (const [i, id] of samples.entries()) {
    atUs += timeDeltas[i] ?? 0
    if (atUs < fromUs || IDLE.includes(byId.get(id)?.callFrame.functionName ?? '')) continue
    const step = stepAt(id)
    busy.set(step, (busy.get(step) ?? 0) + 1)
  }
  return busy
}

/** Undefined for a function of no step, which belongs to that of its caller. */
function stepOf({ functionName, url, lineNumber, columnNumber }: Node['callFrame']): string | undefined {
  const source = url === '' ? functionName : url.startsWith('node:') ? url : sourceOf(url, lineNumber, columnNumber)
  let found: string | undefined
  let longest = 0
  for (const [step, ...paths] of STEPS)
    for (const path of paths) {
      if (path.length <= longest || !source.startsWith(path)) continue
      longest = path.length
      found = step
    }
  return found
}

const maps = new Map<string, SourceMap | undefined>()

/** Path of the source of a place in the built program, from the root of the project or of its package. */
function sourceOf(url: string, line: number, column: number): string {
  const name = basename(url)
  if (!maps.has(name)) maps.set(name, mapOf(name))
  const entry = maps.get(name)?.findEntry(line, column)
  const source = entry !== undefined && 'originalSource' in entry ? entry.originalSource : url
  return source.replace(/^.*node_modules\//, '').replace(/^(?:\.\.\/)+/, '')
}

function mapOf(name: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(join(ROOT, 'dist', `${name}.map`), 'utf8')))
  } catch {
    return undefined
  }
}
