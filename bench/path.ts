import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { basename, join } from 'node:path'
import { createKey, serve, TENANT } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { gateQuestion } from './payment.ts'
import { ROOT, temporaryFolder, threadCpuMs } from './processes.ts'
import { round } from './stats.ts'

/**
 * What each step of a check costs the processor. The built service runs with V8's sampling profiler. A sample belongs to
 * the step of the innermost function on its stack that the table below names by its source file. The shares of the
 * samples divide what the operating system counts for the thread. Sampling itself costs about a tenth.
 */
export interface PathResult {
  connections: number
  /** Microseconds of processor for one check, by step of the event loop's thread, then by thread. */
  steps: Record<string, number>
  totalUs: number
}

/** Source files of each step, by the beginning of their path; the longest that fits counts. */
const STEPS: readonly (readonly [step: string, ...paths: string[]])[] = [
  ['node:http', 'node:', '(program)'],
  ['admit', 'src/http/', 'src/keys/', 'src/actions/keys/', 'src/actions/deps', 'src/base/host', 'src/service/key-uses'],
  ['parse', 'src/http/body', 'src/base/json', 'src/base/decimal'],
  ['validate', 'src/base/schema', 'src/policies/validators', 'ajv', 're2js'],
  ['facts', 'src/gate/facts', 'src/gate/history', 'src/actions/gate/history'],
  ['evaluate', 'src/policies/', 'src/base/glob', 'src/base/work', 'json-rules-engine'],
  ['decide', 'src/gate/', 'src/actions/gate/', 'src/actions/idempotency', 'src/killswitch/'],
  ['prepare', 'src/audit/draft', 'src/base/canonical'],
  ['commit', 'src/store/', 'src/audit/', 'src/workers/', 'src/service/writing', 'better-sqlite3'],
  ['tree', 'src/actions/evidence/', 'src/audit/merkle', 'src/evidence/'],
  ['answer', 'src/http/reply', 'src/actions/gate/answer'],
  ['background', 'src/service/', 'src/actions/'],
  ['garbage collection', '(garbage collector)'],
]
const OTHER = 'other'
const IDLE = ['(idle)', '(root)']
const CONNECTIONS = [1, 32]
const WARM_UP_MS = 5000
const DURATION_MS = 10_000
const INTERVAL_US = 400

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
  const data = temporaryFolder('path')
  const profiles = join(data, 'profiles')
  mkdirSync(profiles)
  const { key } = await createKey(data, 'agent')
  const node = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-interval=${INTERVAL_US}`]
  const server = await serve(data, { node })
  const asked = { url: server.found, question: gateQuestion(key, TENANT), connections }
  await loadInProcess({ ...asked, warmUpMs: 0, durationMs: WARM_UP_MS })
  const before = threadCpuMs(server.process)
  const { requestsWithWarmUp } = await loadInProcess({ ...asked, warmUpMs: 0, durationMs: DURATION_MS })
  const after = threadCpuMs(server.process)
  await server.stop()
  const [main, ...workers] = profilesIn(profiles)
  rmSync(data, { recursive: true })
  if (main === undefined || before === undefined || after === undefined) throw new Error('There is no profile.')
  const perCheck = (ms: number): number => round((ms * 1000) / requestsWithWarmUp, 1)
  const mainUs = perCheck(after.main - before.main)
  const othersUs = perCheck(after.others - before.others)
  const samplesOf = ({ busy }: Counted): number => [...busy.values()].reduce((sum, count) => sum + count, 0)
  const counted = countOf(main)
  const all = samplesOf(counted)
  const steps: Record<string, number> = {}
  for (const [step] of [...STEPS, [OTHER] as const])
    steps[step] = round(((counted.busy.get(step) ?? 0) / all) * mainUs, 1)
  const writerSamples = workers.map(countOf).map(samplesOf)
  // The threads' samples are of the same interval, so that they count as time too.
  const writerUs = round((Math.max(0, ...writerSamples) / all) * mainUs, 1)
  steps['writing thread'] = Math.min(writerUs, othersUs)
  steps["V8's threads"] = round(Math.max(0, othersUs - writerUs), 1)
  return { connections, steps, totalUs: round(mainUs + othersUs, 1) }
}

/** Profiles of the second half of the run, that of the event loop first. */
function profilesIn(folder: string): Profile[] {
  const threadOf = (name: string): number => Number(name.split('.')[4])
  return readdirSync(folder)
    .sort((a, b) => threadOf(a) - threadOf(b))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile)
}

interface Counted {
  /** Samples by step. */
  busy: Map<string, number>
}

function countOf({ nodes, samples, timeDeltas, startTime, endTime }: Profile): Counted {
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
  const fromUs = endTime - DURATION_MS * 1000
  let atUs = startTime
  for (const [i, id] of samples.entries()) {
    atUs += timeDeltas[i] ?? 0
    if (atUs < fromUs || IDLE.includes(byId.get(id)?.callFrame.functionName ?? '')) continue
    const step = stepAt(id)
    busy.set(step, (busy.get(step) ?? 0) + 1)
  }
  return { busy }
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
