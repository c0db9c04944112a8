import { setTimeout as sleep } from 'node:timers/promises'
import { startGate } from './gate.ts'
import { loadInProcess } from './load-process.ts'
import { residentMb } from './processes.ts'

export interface MemoryResult {
  connections: number
  seconds: number
  /** Resident memory of the whole service, with its threads. */
  idleMb: number
  loadedMb: number
  /** Resident memory after a minute without requests, when the writing thread has ended. */
  restedMb: number
  requests: number
  errors: number
}

const CONNECTIONS = 32
const SECONDS = 60
/** Time by which the threads that only the start needs have ended. */
const IDLE_MS = 10_000
const REST_MS = 65_000

/** Measures the resident memory of a service: before any request, after a minute under load, and at rest again. */
export async function measureMemory(): Promise<MemoryResult> {
  const { url, question, process, stop } = await startGate()
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
