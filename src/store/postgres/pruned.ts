import { type Prune, readPrune } from '../../evidence/prune.ts'
import { placeOf } from '../places.ts'
import type { Source } from '../source.ts'
import { type Numbers, prunedSize } from './chains.ts'
import { type Runner, statement } from './database.ts'
import { firstTextOf, SHARED_BY } from './shared-text.ts'

const PUT = statement('UPDATE gate.chain SET pruned = $2 WHERE name = $1')
const DELETE = statement('DELETE FROM gate.audit_entry WHERE at >= $1 AND at < $2')
const DELETE_TEXTS = statement('DELETE FROM gate.shared_text WHERE number >= $1 AND number < $2')

type Reads = Pick<Source, 'entries' | 'rows'>

/** Statements about what was pruned. Only commit.ts writes, inside its transaction. */
export function prunedQueries(run: Runner, { entries, rows }: Reads, numbers: Numbers) {
  return {
    size: (chain: string) => prunedSize(run, chain),
    async record(chain: string): Promise<{ seq: number; prune: Prune } | undefined> {
      const seq = (await entries.seqsOfTypes(chain, ['audit.prune'])).at(-1)
      const data = seq === undefined ? undefined : await rows.wholeData(chain, seq)
      const prune = data === undefined ? undefined : readPrune(data)
      return seq === undefined || prune === undefined ? undefined : { seq, prune }
    },
    prune(chain: string, size: number): void {
      const number = numbers.get(chain) ?? 0
      const begin = placeOf(number, 0)
      run.send(PUT, [chain, size])
      run.send(DELETE, [begin, placeOf(number, size)])
      // Only entries before `size` may have these.
      if (size >= SHARED_BY) run.send(DELETE_TEXTS, [firstTextOf(number, 0), firstTextOf(number, size - SHARED_BY + 1)])
    },
  }
}
