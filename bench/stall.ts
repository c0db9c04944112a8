import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import Sqlite, { type Database } from 'better-sqlite3'
import { start, temporaryFolder } from './processes.ts'
import { round } from './stats.ts'

const HOLD_MS = 200
const LEAVE_MS = 50
const RETRY_MS = 5
const MEASURE_MS = 2000
const HOLDER = fileURLToPath(new URL('./lock-holder.ts', import.meta.url))

export interface StallResult {
  /** SQLite's own wait for the lock; 0 asks again from a timer. */
  busyTimeoutMs: number
  commits: number
  p99StallMs: number
  /** Longest time in which the process could do nothing else, not even answer its health check. */
  maxStallMs: number
  maxCommitMs: number
}

/** Measures the stalls of this process's event loop while another one holds the write lock. */
export async function measureStall(busyTimeoutMs: number): Promise<StallResult> {
  const folder = temporaryFolder('stall')
  const file = join(folder, 'stall.db')
  const db = new Sqlite(file, { timeout: busyTimeoutMs })
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec('CREATE TABLE stall (n INTEGER)')
  const holder = await start(
    process.execPath,
    ['--import', 'tsx', HOLDER, file, String(HOLD_MS), String(LEAVE_MS)],
    (line) => (line === 'held' ? true : undefined),
  )
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { commits, maxCommitMs } = await commitFor(db, MEASURE_MS)
  delay.disable()
  await holder.stop()
  db.close()
  rmSync(folder, { recursive: true })
  return {
    busyTimeoutMs,
    commits,
    p99StallMs: round(delay.percentile(99) / 1e6, 1),
    maxStallMs: round(delay.max / 1e6, 1),
    maxCommitMs: round(maxCommitMs, 1),
  }
}

async function commitFor(db: Database, durationMs: number): Promise<{ commits: number; maxCommitMs: number }> {
  let commits = 0
  let maxCommitMs = 0
  for (const until = performance.now() + durationMs; performance.now() < until; commits += 1) {
    const started = performance.now()
    while (!tryCommit(db)) await pause(RETRY_MS)
    maxCommitMs = Math.max(maxCommitMs, performance.now() - started)
    await pause(1)
  }
  return { commits, maxCommitMs }
}

function tryCommit(db: Database): boolean {
  try {
    db.exec('BEGIN IMMEDIATE')
  } catch {
    // Busy is the only failure here, and a lasting one would show as commits: 0.
    return false
  }
  db.exec('INSERT INTO stall VALUES (1); COMMIT')
  return true
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
