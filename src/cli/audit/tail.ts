import { auditChain } from '../../actions/audit/audit.ts'
import type { Deps } from '../../actions/deps.ts'
import type { GateCommand } from '../command.ts'
import { limitOption } from '../context.ts'
import { withStore } from '../data-file.ts'
import { print } from '../output.ts'
import { untilStopped } from '../serve/signals.ts'
import { type EntryView, entryTable } from './entry-lines.ts'
import { addChainOptions, type ChainOptions, chainNamed } from './list.ts'

interface TailOptions extends ChainOptions {
  limit: number
  follow?: boolean
}

/** Poll interval and batch size for new entries. */
const FOLLOW_MS = 200
const FOLLOW_BATCH = 500

export function addAuditTailCommand(audit: GateCommand): void {
  addChainOptions(audit.command('tail'))
    .description('print the newest entries, the newest last; with --json, one entry per line')
    .addOption(limitOption(10, 500))
    .option('--follow', 'keep printing new entries')
    .example('audit tail --tenant acme --follow')
    .action(tail)
}

async function tail(options: TailOptions): Promise<void> {
  await withStore(options, async (deps) => {
    const chain = await chainNamed(deps, options)
    const { items } = await auditChain(deps, { chain, order: 'desc', limit: options.limit, offset: 0 })
    const next = (items[0]?.seq ?? -1) + 1
    items.reverse()
    if (options.json) printLines(options, items)
    else print(options, null, () => entryTable(items))
    if (options.follow) await follow(deps, chain, next, options)
  })
}

/** Follows until a stop signal, or until the reader is gone. */
async function follow(deps: Deps, chain: string, first: number, options: TailOptions): Promise<void> {
  let next = first
  await untilStopped(FOLLOW_MS, async () => {
    // Seqs have no gaps, so the offset from the oldest is the seq.
    const { items } = await auditChain(deps, { chain, order: 'asc', limit: FOLLOW_BATCH, offset: next })
    printLines(options, items)
    next += items.length
    return items.length > 0
  })
}

function printLines(options: TailOptions, entries: readonly EntryView[]): void {
  if (options.json) for (const entry of entries) print(options, entry, () => [])
  else print(options, null, () => entryTable(entries).slice(1))
}
