import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createKey, serve, TENANT } from '../gate.ts'
import { ROOT, run, temporaryFolder } from '../processes.ts'
import { round } from '../stats.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { ProbeResult } from './probe.ts'

/** Hostile requests under way at once, each its own connection. */
const AT_ONCE = 5
const DURATION_MS = 6000
const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url))

export interface HostileResult extends ProbeResult {
  kind: string
  answered: number
  /** Requests whose connection the service closed, as it may with a body that it refuses. */
  lost: number
  /** Mean time of one answer to a hostile request. */
  meanMs: number
  firstAnswer: string
}

/** Measures the checks and stops of another tenant while hostile requests of each kind run. */
export async function measureHostile(): Promise<HostileResult[]> {
  const folder = temporaryFolder('hostile')
  const [data, policies] = [join(folder, 'data'), join(folder, 'policies')]
  const kinds = KINDS.map((kind, i) => ({ kind, tenant: kind.folder ?? `h${i}` }))
  cpSync(join(ROOT, 'bench', 'policies'), policies, { recursive: true })
  for (const { kind, tenant } of kinds) writePolicies(join(policies, tenant), tenant, kind)
  const agents = new Map<string, string>()
  for (const { tenant } of kinds) agents.set(tenant, (await createKey(data, 'agent', tenant)).key)
  const [agent, owner] = [await createKey(data, 'agent'), await createKey(data, 'owner')]
  const server = await serve(data, { policies })
  try {
    const results: HostileResult[] = []
    for (const { kind, tenant } of [{ kind: undefined, tenant: '' }, ...kinds]) {
      const until = { over: false }
      const attack = kind && attackWith(kind, { url: server.found, tenant, key: agents.get(tenant) ?? '' }, until)
      const options = { url: server.found, tenant: TENANT, agent: agent.key, owner: owner.key, durationMs: DURATION_MS }
      if (attack) await sleep(300)
      const probed = await run(process.execPath, ['--import', 'tsx', PROBE, JSON.stringify(options)])
      until.over = true
      const { times, lost, firstAnswer } = (await attack) ?? { times: [], lost: 0, firstAnswer: '' }
      const meanMs = round(times.reduce((sum, ms) => sum + ms, 0) / Math.max(1, times.length), 0)
      const result = { kind: kind?.name ?? 'nobody', ...(JSON.parse(probed) as ProbeResult) }
      results.push({ ...result, answered: times.length, lost, meanMs, firstAnswer })
      process.stderr.write(`${result.kind}: check p99 ${result.checkP99Ms} ms, stop at most ${result.stopMaxMs} ms\n`)
    }
    return results
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

function writePolicies(folder: string, tenant: string, { folder: shipped, policy }: Kind): void {
  if (shipped !== undefined) {
    cpSync(join(ROOT, 'policies', shipped), folder, { recursive: true, filter: (path) => !path.includes('.test.') })
    return
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'main.yaml'), `apiVersion: gate-sidecar/v1\ntenant: ${tenant}\n${policy}`)
}

async function attackWith(
  { bodies, path = '/gate/check' }: Kind,
  { url, tenant, key }: { url: string; tenant: string; key: string },
  until: { over: boolean },
) {
  const texts = bodies.map((body) => JSON.stringify({ tenantId: tenant, ...body }))
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const headers = { 'x-api-key': key, 'x-tenant-id': tenant, 'content-type': 'application/json' }
  const times: number[] = []
  let [next, lost, firstAnswer] = [0, 0, '']
  const ask = async (): Promise<void> => {
    while (!until.over) {
      const text = texts[next++ % texts.length] ?? ''
      const sentMs = performance.now()
      const answer = await new Promise<string>((resolve) => {
        const sending = request(url + path, { method: 'POST', agent, headers }, (response) => {
          let out = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            out = `${out}${chunk}`.slice(0, 400)
          })
          response.on('end', () => resolve(out))
        })
        sending.on('error', () => resolve(''))
        sending.end(text)
      })
      if (answer === '') lost += 1
      else times.push(performance.now() - sentMs)
      firstAnswer ||= answer
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  agent.destroy()
  return { times, lost, firstAnswer }
}
