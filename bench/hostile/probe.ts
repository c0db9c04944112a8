import { setTimeout as sleep } from 'node:timers/promises'
import { askerOf } from '../asker.ts'
import { gateQuestion } from '../payment.ts'
import { quantile, round } from '../stats.ts'

const CHECK_EVERY_MS = 20
const STOP_EVERY_MS = 250

interface ProbeOptions {
  url: string
  tenant: string
  agent: string
  owner: string
  durationMs: number
}

export interface ProbeResult {
  checks: number
  checkP50Ms: number
  checkP99Ms: number
  checkMaxMs: number
  stops: number
  stopMaxMs: number
}

/** Asks as another tenant does while others are hostile: a check 20 ms after the last, a stop after 250 ms. */
async function probe({ url, tenant, agent, owner, durationMs }: ProbeOptions): Promise<ProbeResult> {
  const endMs = performance.now() + durationMs
  const question = JSON.parse(gateQuestion(agent, tenant).body) as object
  const stop = { level: 'L1', scope: 'drill', reason: 'drill', triggeredBy: 'bench' }
  const [checks, stops] = await Promise.all([
    every(CHECK_EVERY_MS, endMs, askerOf(url, agent, tenant), () => ['/gate/check', question]),
    every(STOP_EVERY_MS, endMs, askerOf(url, owner, tenant), (i) => [
      '/killswitch/trigger',
      { ...stop, scope: `drill.a${i}` },
    ]),
  ])
  const sorted = Float64Array.from(checks).sort()
  return {
    checks: checks.length,
    checkP50Ms: round(quantile(sorted, 0.5), 1),
    checkP99Ms: round(quantile(sorted, 0.99), 1),
    checkMaxMs: round(quantile(sorted, 1), 1),
    stops: stops.length,
    stopMaxMs: round(Math.max(...stops), 1),
  }
}

async function every(
  intervalMs: number,
  endMs: number,
  ask: ReturnType<typeof askerOf>,
  next: (i: number) => [path: string, body: object],
): Promise<number[]> {
  const times: number[] = []
  while (performance.now() < endMs) {
    const sentMs = performance.now()
    if ((await ask('POST', ...next(times.length))) === undefined) throw new Error('the probe was refused')
    times.push(performance.now() - sentMs)
    await sleep(intervalMs)
  }
  return times
}

process.stdout.write(JSON.stringify(await probe(JSON.parse(process.argv[2] ?? '') as ProbeOptions)))
