import { readFileSync, rmSync } from 'node:fs'
import { trustOf } from '../src/actions/evidence/trust.ts'
import type { RangeVerification } from '../src/audit/range.ts'
import { connect } from '../src/store/sqlite/connection.ts'
import { openDatabase } from '../src/store/sqlite/open.ts'
import { openStore } from '../src/store/sqlite/store.ts'
import { verifiedNow } from '../src/store/sqlite/verifiers.ts'
import { askerOf, probing } from './asker.ts'
import { createKey, serve, TENANT } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { gateQuestion } from './payment.ts'
import { temporaryFolder } from './processes.ts'
import { median, quantile, round } from './stats.ts'

const CHAIN = `${TENANT}/live`
const FILL_MS = 20_000
const EXPORTS = 200
const ROUNDS = 3

export interface EvidenceResult {
  entries: number
  /** Rate over the whole chain in one thread, in entries per second of processor time: the median of the rounds. */
  headersPerCpuSecond: number
  withContentsPerCpuSecond: number
  /** Latency of `GET /evidence/bundle/:id`, one request after the other. */
  exportP50Ms: number
  exportP99Ms: number
  /** Duration of `POST /audit/verify` over the whole chain, and the longest `GET /healthz` meanwhile. */
  verifyMs: number
  longestHealthMs: number
  longestHealthIdleMs: number
  /** Memory of the process after the verification less before it. */
  grownMiB: number
}

/** Measures the cost of evidence: the built program exports and verifies a chain of a busy minute or two. */
export async function measureEvidence(): Promise<EvidenceResult> {
  const data = temporaryFolder('evidence')
  const { key } = await createKey(data, 'owner')
  const server = await serve(data, { flags: ['--sweep', 'off'] })
  const url = server.found
  const question = gateQuestion(key, TENANT)
  await loadInProcess({ url, question, connections: 32, warmUpMs: 0, durationMs: FILL_MS })
  const asked = await measureAsked(url, key, server.process.pid)
  await server.stop()
  const rates = measureVerification(data)
  rmSync(data, { recursive: true })
  return { ...rates, ...asked }
}

async function measureAsked(url: string, key: string, pid: number | undefined) {
  const chain = await askerOf<{ id: string }[]>(
    url,
    key,
    TENANT,
  )('GET', `/audit/chain?limit=${EXPORTS}&eventType=gate.decision`)
  const ask = askerOf<RangeVerification>(url, key, TENANT)
  const times: number[] = []
  for (const { id } of chain) {
    const began = performance.now()
    await ask('GET', `/evidence/bundle/${id}`)
    times.push(performance.now() - began)
  }
  const sorted = times.sort((a, b) => a - b)
  const idle = probing(url)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const longestHealthIdleMs = await idle()
  const before = memoryMiB(pid)
  const probe = probing(url)
  const began = performance.now()
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  const range = { tenantId: TENANT, startDate: day(Date.now() - 86_400_000), endDate: day(Date.now()) }
  const { valid, fault } = await ask('POST', '/audit/verify', range)
  if (!valid) throw new Error(`the chain does not verify: ${fault}`)
  const verifyMs = performance.now() - began
  return {
    exportP50Ms: round(quantile(sorted, 0.5), 1),
    exportP99Ms: round(quantile(sorted, 0.99), 1),
    verifyMs: round(verifyMs, 0),
    longestHealthMs: round(await probe(), 1),
    longestHealthIdleMs: round(longestHealthIdleMs, 1),
    grownMiB: round(memoryMiB(pid) - before, 0),
  }
}

// Reads /proc, which only Linux has.
function memoryMiB(pid: number | undefined): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** Measures the verification of the chain in this thread, as a thread of a service does it, without a service. */
function measureVerification(data: string) {
  const store = openStore({ dir: data, create: false, clock: Date.now })
  const { logKeys } = trustOf(store)
  const { origin } = store
  void store.close()
  const connection = connect(openDatabase(data, { create: false }))
  const rate = (sections: boolean): number => {
    const cpu = process.cpuUsage()
    const request = {
      chain: CHAIN,
      sections,
      logKeys,
      anchor: null,
      anchoredSize: 0,
      revoked: new Set<string>(),
      sealKey: undefined,
      nowMs: 0,
    }
    const { entriesChecked } = verifiedNow(connection, origin, request)
    const { user, system } = process.cpuUsage(cpu)
    return entriesChecked / ((user + system) / 1e6)
  }
  const rates = (sections: boolean): number => round(median(Array.from({ length: ROUNDS }, () => rate(sections))), 0)
  const [headersPerCpuSecond, withContentsPerCpuSecond] = [rates(false), rates(true)]
  const entries = connection.entries.length(CHAIN)
  connection.db.close()
  return { entries, headersPerCpuSecond, withContentsPerCpuSecond }
}
