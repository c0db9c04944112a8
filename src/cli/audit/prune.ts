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
    .description('archive the oldest entries in a folder and delete them; what is left goes on from a signed record')
    .requiredOption('--before <day>', `what was written before this day, YYYY-MM-DD; at least ${MIN_AGE_DAYS} days ago`)
    .requiredOption('--archive <folder>', 'folder to write, which has no export yet')
    .addOption(
      new Option('--without-anchor <sink>', 'anchors that are no longer used, and need not have it; may be given twice')
        .choices(SINKS)
        .argParser(collectOneOf(SINKS)),
    )
    .requiredOption('--reason <text>', 'why, for the trail: no personal data')
    .notes(`
Up to the newest checkpoint before that day that every anchor has, and not past an approval that is open. Bundles of what
is deleted stay valid; new ones of it cannot be exported.`)
    .example("audit prune --tenant acme --before 2025-01-01 --archive acme-2024 --reason 'kept for a year'")
    .action(pruneCommand)
}

async function pruneCommand(options: PruneOptions): Promise<void> {
  const { before, archive, reason, withoutAnchor: unused = [] } = options
  const beforeMs = parseDate(before)
  if (beforeMs === undefined) throw new UsageError(`--before: ${before} is no day such as 2026-01-31.`)
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
      ? `Nothing of ${chain} can be pruned: no checkpoint before that day is without an open approval, and held by every anchor.`
      : `${(end - first).toLocaleString('en')} entries of ${chain} are in ${archive}, and no more in the data file. Keep the folder: the record names its digest.`,
    ...(isScrubbed ? [] : ['The file beside the data file still has them: others read from it.']),
  ])
  if (end === first) options.io.exitCode = EXIT.negative
}
