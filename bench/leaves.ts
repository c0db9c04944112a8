import { loadPolicySet } from '../src/authoring/load/load.ts'
import { newWork } from '../src/base/work.ts'
import { evaluate } from '../src/policies/evaluate.ts'
import { round } from './stats.ts'

export interface LeavesResult {
  leaves: number
  /** Processor time of an evaluation, in microseconds. */
  perEvaluationUs: number
}

const LEAVES = [1, 10, 100]
const ROUNDS = 5
const ROUND_MS = 200

/** Measures the evaluation of as many rules, of one leaf each, about one action: the least of five rounds. */
export async function measureLeaves(): Promise<LeavesResult[]> {
  const results: LeavesResult[] = []
  for (const leaves of LEAVES) {
    const rule = (i: number): string =>
      `  - {id: r${i}, actions: [a.b], effect: deny, reason: R., when: {fact: context.f${i}, operator: greaterThan, value: ${i}}}\n`
    const rules = Array.from({ length: leaves }, (_, i) => rule(i)).join('')
    const text = `apiVersion: gate-sidecar/v1\ntenant: bench\nrules:\n${rules}`
    const files = [{ name: 'main.yaml', bytes: Buffer.from(text) }]
    const { set } = loadPolicySet({ tenant: 'bench', files, lists: new Map(), ignored: [] })
    if (set === undefined) throw new Error('The policies of the bench cannot be loaded.')
    const rounds: number[] = []
    for (let i = 0; i < ROUNDS; i += 1)
      rounds.push(await roundUs(() => evaluate(set, 'a.b', ({ segments }) => segments.length, newWork())))
    results.push({ leaves, perEvaluationUs: round(Math.min(...rounds), 1) })
  }
  return results
}

async function roundUs(evaluate: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  const endMs = performance.now() + ROUND_MS
  let count = 0
  for (; performance.now() < endMs; count += 1) await evaluate()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
