import { fileURLToPath } from 'node:url'
import { type AppendResults, measureAppend } from './append.ts'
import { type HistoryResult, measureHistory } from './history.ts'
import { type LeavesResult, measureLeaves } from './leaves.ts'
import { measureStall, type StallResult } from './stall.ts'

export interface MicroResults {
  append: AppendResults
  stalls: StallResult[]
  history: HistoryResult
  leaves: LeavesResult[]
}

/** Measures the costs that decide the design of the store, each by itself. Takes about a minute. */
export async function measureMicro(): Promise<MicroResults> {
  const append = measureAppend()
  console.log(`\nseal one decision (${append.entryBytes} bytes)  ${append.sealMs} ms`)
  console.log(`fsync of 4 KiB                   ${append.fsyncMedianMs} ms (median)`)
  for (const { synchronous, batch, perCommitMs, perEntryMs } of append.inserts) {
    const name = `insert, synchronous=${synchronous}, ${batch} a commit`
    console.log(`${name.padEnd(40)} ${perCommitMs} ms a commit, ${perEntryMs} ms an entry`)
  }
  const stalls: StallResult[] = []
  for (const busyTimeoutMs of [0, 5000]) {
    const stall = await measureStall(busyTimeoutMs)
    stalls.push(stall)
    const { commits, maxStallMs, maxCommitMs } = stall
    const how = `second writer, busy_timeout=${busyTimeoutMs}`
    console.log(
      `${how.padEnd(40)} longest stall ${maxStallMs} ms, longest commit ${maxCommitMs} ms, ${commits} commits`,
    )
  }
  const history = await measureHistory()
  const { before, plainMs, countedMs, firstMs, firstStallMs } = history
  const name = `check, counting over ${before.toLocaleString('en')}`
  console.log(
    `${name.padEnd(40)} ${countedMs} ms, not counting ${plainMs} ms; first ${firstMs} ms, stall ${firstStallMs} ms`,
  )
  const leaves = await measureLeaves()
  for (const one of leaves)
    console.log(`${`evaluate ${one.leaves} rules of one leaf`.padEnd(40)} ${one.perEvaluationUs} µs of processor`)
  return { append, stalls, history, leaves }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await measureMicro()
