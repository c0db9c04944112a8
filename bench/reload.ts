import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askerOf, probing } from './asker.ts'
import { createKey, serve, TENANT } from './gate.ts'
import { temporaryFolder } from './processes.ts'
import { round } from './stats.ts'

const SIZES = [10, 1000, 10_000]
/** Rules of one file: 10,000 would exceed its limit of 1 MiB. */
const RULES_A_FILE = 2500
/** Interval between two checks of the policies in force. */
const LOOK_MS = 5

export interface ReloadResult {
  rules: number
  /** Time from the writing of the files to the answer of `POST /policies/reload`. */
  askedMs: number
  /** Time from the writing of the files until they are in force without a request to reload. */
  seenMs: number
  /** Longest `GET /healthz` meanwhile; the event loop was blocked for at most as long. */
  longestHealthMs: number
}

/** Measures the time until policy sets of several sizes are in force in the built program, and the stall meanwhile. */
export async function measureReload(): Promise<ReloadResult[]> {
  const folder = temporaryFolder('reload')
  const policies = join(folder, 'policies', TENANT)
  mkdirSync(policies, { recursive: true })
  writeSet(policies, 1, 'first')
  const data = join(folder, 'data')
  const { key } = await createKey(data, 'operator')
  const server = await serve(data, { policies: join(folder, 'policies') })
  const ask = askerOf<State>(server.found, key, TENANT)
  const results: ReloadResult[] = []
  for (const rules of SIZES) {
    const longest = probing(server.found)
    const started = performance.now()
    writeSet(policies, rules, 'asked for')
    const asked = await ask('POST', '/policies/reload')
    if (asked.rules !== rules) throw new Error(`${rules} rules did not come into force: ${asked.faults}`)
    const askedMs = performance.now() - started
    const saved = performance.now()
    writeSet(policies, rules, 'seen')
    while ((await ask('GET', '/policies')).digest === asked.digest) await sleep(LOOK_MS)
    const seenMs = performance.now() - saved
    const longestHealthMs = await longest()
    results.push({
      rules,
      askedMs: round(askedMs, 0),
      seenMs: round(seenMs, 0),
      longestHealthMs: round(longestHealthMs, 0),
    })
  }
  await server.stop()
  rmSync(folder, { recursive: true })
  return results
}

/** Writes rules in flow style, the slowest kind, to as many files as they need. */
function writeSet(folder: string, rules: number, reason: string): void {
  for (let from = 0; from < rules; from += RULES_A_FILE) {
    const count = Math.min(RULES_A_FILE, rules - from)
    const lines = Array.from({ length: count }, (_, i) => rule(from + i, reason))
    writeFileSync(
      join(folder, `p${from}.yaml`),
      `apiVersion: gate-sidecar/v1\ntenant: ${TENANT}\nrules:\n${lines.join('\n')}\n`,
    )
  }
}

function rule(i: number, reason: string): string {
  return `  - {id: r${i}, actions: ["a${i % 500}.*"], effect: deny, reason: ${reason}, when: {all: [{fact: context.amount, operator: greaterThan, value: ${i}}, {fact: context.country, operator: in, value: [DE, FR, IT]}]}}`
}

interface State {
  digest: string
  rules: number
  faults: string[]
}
