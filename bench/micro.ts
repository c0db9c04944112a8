import { fileURLToPath } from 'node:url'
import { type AppendResults, measureAppend } from './append.ts'
import { measureStall, type StallResult } from './stall.ts'

export interface MicroResults {
  append: AppendResults
  stalls: StallResult[]
}

/** What decides the shape of the store, each alone. Takes about 12 s. */
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
  return { append, stalls }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await measureMicro()
