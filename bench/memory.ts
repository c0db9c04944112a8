import { setTimeout as sleep } from 'node:timers/promises'
import { startGate } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { residentMb } from './processes.ts'

export interface MemoryResult {
  connections: number
  seconds: number
  /** Of the whole service, its threads too. */
  idleMb: number
  loadedMb: number
  /** When nobody has asked for a minute since, and the thread that writes has ended. */
  restedMb: number
  requests: number
  errors: number
}

const CONNECTIONS = 32
const SECONDS = 60
/** Threads that were needed to start are gone by then. */
const IDLE_MS = 10_000
const REST_MS = 65_000

/** What a service keeps of memory when nobody asks, and when many have asked for a minute. */
export async function measureMemory(): Promise<MemoryResult> {
  const { url, question, process, stop } = await startGate(false)
  try {
    await sleep(IDLE_MS)
    const idleMb = residentMb(process)
    const load = { url, question, connections: CONNECTIONS, warmUpMs: 1000, durationMs: SECONDS * 1000 }
    const { requestsWithWarmUp: requests, errors } = await loadInProcess(load)
    const loadedMb = residentMb(process)
    await sleep(REST_MS)
    const restedMb = residentMb(process)
    return { connections: CONNECTIONS, seconds: SECONDS, idleMb, loadedMb, restedMb, requests, errors }
  } finally {
    await stop()
  }
}
