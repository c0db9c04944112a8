import { auditChain, entryView, SHOWN_SECTIONS } from '../../actions/audit/audit.ts'
import type { Deps } from '../../actions/deps.ts'
import { inTrailOrder } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
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
    const trail = await chainNamed(deps, options)
    // Later entries are for readers who follow.
    const lengths = await deps.store.lengths(await deps.store.lanes(trail))
    const page = await auditChain(deps, { trail, order: 'desc', limit: options.limit, offset: 0 })
    const items = page.items.filter(({ chain, seq }) => seq < (lengths.get(chain) ?? 0)).reverse()
    if (options.json) printLines(options, items)
    else print(options, null, () => entryTable(items))
    if (options.follow) await follow(deps, trail, lengths, options)
  })
}

/** Follows until a stop signal, or until the reader is gone. */
async function follow(
  { store }: Deps,
  trail: string,
  lengths: ReadonlyMap<string, number>,
  options: TailOptions,
): Promise<void> {
  const next = new Map(lengths)
  await untilStopped(FOLLOW_MS, async () => {
    const found: StoredEntry[] = []
    for (const chain of await store.lanes(trail)) {
      const query = { chain, order: 'asc', limit: FOLLOW_BATCH, offset: 0, sections: SHOWN_SECTIONS } as const
      const { items } = await store.page({ ...query, since: next.get(chain) ?? 0 })
      const last = items.at(-1)
      if (last !== undefined) next.set(chain, last.header.seq + 1)
      found.push(...items)
    }
    printLines(options, found.sort((a, b) => inTrailOrder(a.header, b.header)).map(entryView))
    return found.length > 0
  })
}

function printLines(options: TailOptions, entries: readonly EntryView[]): void {
  if (options.json) for (const entry of entries) print(options, entry, () => [])
  else print(options, null, () => entryTable(entries).slice(1))
}
