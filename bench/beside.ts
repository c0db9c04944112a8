import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { askerOf } from './asker.ts'
import { createKey, serve, TENANT } from './gate.ts'
import { gateQuestion } from './payment.ts'
import { temporaryFolder } from './processes.ts'
import { quantile, round } from './stats.ts'

const DECISIONS = 50_000
const AT_ONCE = 64
const ALONE_MS = 5000
const POLICY = fileURLToPath(new URL('./policies/bench/main.yaml', import.meta.url))

export interface BesideResult {
  /** What runs beside checks that are made one after the other. */
  beside: string
  checks: number
  medianMs: number
  p99Ms: number
  longestMs: number
  /** Decisions that are made again meanwhile, and the time that takes. */
  decided: number
  seconds: number
}

interface Replay {
  id: string
  status: string
  report: { decided: number } | null
}

/** Measures how long checks take in the built service, alone and while a draft is replayed on all that was recorded. */
export async function measureBeside(): Promise<BesideResult[]> {
  const data = temporaryFolder('beside')
  const [agent, auditor] = [await createKey(data, 'agent'), await createKey(data, 'auditor')]
  const server = await serve(data)
  const payment = JSON.parse(gateQuestion(agent.key, TENANT).body) as object
  const ask = askerOf<object>(server.found, agent.key, TENANT)
  const look = askerOf<Replay>(server.found, auditor.key, TENANT)
  const check = () => ask('POST', '/gate/check', payment)
  try {
    for (let done = 0; done < DECISIONS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, check))
    const endMs = performance.now() + ALONE_MS
    const alone = await checksWhile(check, async () => performance.now() < endMs)
    const text = readFileSync(POLICY, 'utf8').replace('value: 10000', 'value: 1000')
    const draft = { files: [{ name: 'main.yaml', text }], from: '2020-01-01T00:00:00Z' }
    const began = performance.now()
    let { id, ...replay } = await look('POST', '/policies/replay', draft)
    const beside = await checksWhile(check, async () => {
      replay = await look('GET', `/policies/replay/${id}`)
      return replay.status === 'waiting' || replay.status === 'running'
    })
    const seconds = round((performance.now() - began) / 1000, 1)
    return [
      { beside: 'nothing', ...alone, decided: 0, seconds: ALONE_MS / 1000 },
      { beside: 'a replay', ...beside, decided: replay.report?.decided ?? 0, seconds },
    ]
  } finally {
    await server.stop()
    rmSync(data, { recursive: true })
  }
}

/** Checks one after the other, with a look after each ten whether to go on. */
async function checksWhile(check: () => Promise<unknown>, isOn: () => Promise<boolean>) {
  const times: number[] = []
  while (await isOn())
    for (let i = 0; i < 10; i += 1) {
      const began = performance.now()
      await check()
      times.push(performance.now() - began)
    }
  times.sort((a, b) => a - b)
  const [medianMs = 0, p99Ms = 0, longestMs = 0] = [0.5, 0.99, 1].map((share) => round(quantile(times, share)))
  return { checks: times.length, medianMs, p99Ms, longestMs }
}
