import { Option } from 'commander'
import { SINKS } from '../../actions/anchors/anchors.ts'
import { MIN_AGE_DAYS, prunable, prune } from '../../actions/audit/prune.ts'
import { digestOf } from '../../base/digest.ts'
import { parseDate } from '../../base/time.ts'
import { MAX_REASON } from '../../evidence/prune.ts'
import type { GateCommand } from '../command.ts'
import { collectOneOf, EXIT, hostActor, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { withKeyring } from '../evidence/keyring.ts'
import { print } from '../output.ts'
import { progressBar } from '../progress.ts'
import { writeExport } from './export.ts'
import { addChainOptions, type ChainOptions, chainNamed } from './list.ts'
import { scrub } from './redact.ts'

interface PruneOptions extends ChainOptions {
  before: string
  archive: string
  withoutAnchor?: string[]
  reason: string
}

export function addAuditPruneCommand(audit: GateCommand): void {
  addChainOptions(audit.command('prune'))
    .description('archive the oldest entries in a folder, delete them from the data file, and sign a record of it')
    .requiredOption(
      '--before <day>',
      `prune entries older than this day, YYYY-MM-DD; at least ${MIN_AGE_DAYS} days ago`,
    )
    .requiredOption('--archive <folder>', 'folder to write; it must not hold an export yet')
    .addOption(
      new Option(
        '--without-anchor <sink>',
        'anchor no longer in use, which need not hold the checkpoint; may be given twice',
      )
        .choices(SINKS)
        .argParser(collectOneOf(SINKS)),
    )
    .requiredOption('--reason <text>', 'reason, recorded in the trail; leave out personal data')
    .notes(`
Pruning ends at the newest checkpoint before that day that every anchor holds, and before any open approval. Existing
bundles of pruned decisions stay valid; new ones cannot be exported.`)
    .example("audit prune --tenant acme --before 2025-01-01 --archive acme-2024 --reason 'kept for a year'")
    .action(pruneCommand)
}

async function pruneCommand(options: PruneOptions): Promise<void> {
  const { before, archive, reason, withoutAnchor: unused = [] } = options
  const beforeMs = parseDate(before)
  if (beforeMs === undefined) throw new UsageError(`--before: ${before} is not a day such as 2026-01-31.`)
  if (reason.length > MAX_REASON) throw new UsageError(`--reason: at most ${MAX_REASON} characters.`)
  const { chain, first, end, isScrubbed } = await withStore(options, async (deps, config) => {
    const chain = await chainNamed(deps, options)
    const evidence = await withKeyring(deps, config)
    const verifying = progressBar(options.io, `${chain}, verifying`, await deps.store.seqNotBefore(chain, `${before}T`))
    const range = await prunable(evidence, chain, { beforeMs, unused }, verifying.at).finally(verifying.end)
    const entries = range.end - range.first
    if (entries === 0) return { ...range, isScrubbed: true }
    const archiving = progressBar(options.io, `${chain}, archiving`, entries)
    const { text } = await writeExport(evidence, chain, range, archive, archiving.at).finally(archiving.end)
    const deleting = progressBar(options.io, `${chain}, deleting`, entries)
    const record = { archive: { first: range.first, manifest: digestOf(text) }, reason }
    await prune(evidence, hostActor(), range, record, deleting.at).finally(deleting.end)
    return { ...range, isScrubbed: await scrub(deps) }
  })
  print(options, { chain, first, end, archive: end > first ? archive : null, scrubbed: isScrubbed }, () => [
    end === first
      ? `Nothing of ${chain} can be pruned: before that day, every anchor must hold a checkpoint with no open approval before it.`
      : `Moved ${(end - first).toLocaleString('en')} entries of ${chain} from the data file to ${archive}. Keep the folder: the trail records its digest.`,
    ...(isScrubbed
      ? []
      : ['The -wal file next to the data file still holds them, because other processes are reading it.']),
  ])
  if (end === first) options.io.exitCode = EXIT.negative
}
