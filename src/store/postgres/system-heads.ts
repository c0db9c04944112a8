import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { WHOLE_CHAIN } from '../places.ts'
import type { RecordedHead } from '../records.ts'
import type { Source } from '../source.ts'
import { headsIn } from '../system-heads.ts'
import type { ChainPlaces } from './chains.ts'
import { type Runner, statement } from './database.ts'

/** Entries that are read at once. */
const PAGE = 200
const CHECKPOINTS = statement(
  `SELECT at, seq, data FROM gate.audit_entry
    WHERE chain = $1 AND type = 'audit.checkpoint' AND at < $2 AND strpos(data, $3) > 0 ORDER BY at DESC LIMIT ${PAGE}`,
)

interface Row {
  at: number
  seq: number
  data: string | null
}

/** Finds the newest heads of chains in `_system`, whose own checkpoints sign them. */
export function systemHeadReads(run: Runner, places: ChainPlaces, pruned: Pick<Source['pruned'], 'record'>) {
  /** Newest first, and last those of pruned entries, as the record of the pruning has them. */
  async function* all(chain = ''): AsyncGenerator<RecordedHead> {
    let [, before] = await places.range(SYSTEM_CHAIN, WHOLE_CHAIN)
    for (;;) {
      const rows = await run.rows<Row>(CHECKPOINTS, [await places.number(SYSTEM_CHAIN), before, chain])
      for (const { seq, data } of rows) yield* headsIn(seq, data ?? 'null')
      const last = rows[PAGE - 1]
      if (last === undefined) break
      before = last.at
    }
    const record = await pruned.record(SYSTEM_CHAIN)
    if (record !== undefined) for (const head of record.prune.heads) yield { seq: record.seq, ...head }
  }
  return {
    async of(chain: string, end: number): Promise<RecordedHead[]> {
      const found: RecordedHead[] = []
      for await (const head of all(chain)) {
        if (head.chain !== chain) continue
        if (found.length === 0 || head.seq < end) found.push(head)
        if (head.seq < end) break
      }
      return found
    },
    async before(end: number): Promise<Omit<RecordedHead, 'seq'>[]> {
      const { seq: recordSeq } = (await pruned.record(SYSTEM_CHAIN)) ?? {}
      const heads = new Map<string, Omit<RecordedHead, 'seq'>>()
      for await (const { seq, chain, size, root } of all())
        if ((seq < end || seq === recordSeq) && !heads.has(chain)) heads.set(chain, { chain, size, root })
      return [...heads.values()]
    },
    async chains(): Promise<Set<string>> {
      const found = new Set<string>()
      for await (const { chain } of all()) found.add(chain)
      return found
    },
  }
}
