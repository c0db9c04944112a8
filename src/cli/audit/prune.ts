import { Option } from 'commander'
import { SINKS } from '../../actions/anchors/anchors.ts'
import type { ExportedLanes } from '../../actions/audit/export-range.ts'
import { MIN_AGE_DAYS, prunable, prune } from '../../actions/audit/prune.ts'
import type { EvidenceDeps } from '../../actions/evidence/evidence.ts'
import { laneNumber } from '../../audit/chain.ts'
import { parseDate } from '../../base/time.ts'
import { MAX_REASON } from '../../evidence/prune.ts'
import type { SeqRange } from '../../store/queries.ts'
import type { GateCommand } from '../command.ts'
import { collectOneOf, EXIT, hostActor, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { withKeyring } from '../evidence/keyring.ts'
import { print } from '../output.ts'
import { progressBar } from '../progress.ts'
import { writeExport } from './export.ts'
import { addChainOptions, type ChainOptions, chainNamed, chainsIn, folderFor } from './list.ts'
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
  const beforeMs = parseDate(options.before)
  if (beforeMs === undefined) throw new UsageError(`--before: ${options.before} is not a day such as 2026-01-31.`)
  if (options.reason.length > MAX_REASON) throw new UsageError(`--reason: at most ${MAX_REASON} characters.`)
  const { chains, isScrubbed } = await withStore(options, async (deps, config) => {
    const trail = await chainNamed(deps, options)
    const evidence = await withKeyring(deps, config)
    const pruned: Pruned[] = []
    const manifests: ExportedLanes = {}
    // Lanes first: the manifest of the trail's own chain names theirs.
    for (const chain of (await chainsIn(deps, trail)).reverse()) {
      const lanes = chain === trail ? manifests : {}
      const moving = { chain, beforeMs, archive: folderFor(options.archive, trail, chain), lanes }
      const { manifest, ...done } = await pruneChain(evidence, moving, options)
      if (manifest !== null) manifests[laneNumber(chain)] = manifest
      pruned.unshift(done)
    }
    return { chains: pruned, isScrubbed: pruned.every(isEmpty) || (await scrub(deps)) }
  })
  const [own, ...lanes] = chains
  const moved = chains.filter((one) => !isEmpty(one))
  print(options, { ...own, ...(lanes.length > 0 && { lanes }), scrubbed: isScrubbed }, () => [
    ...moved.map(
      ({ chain, first, end, archive }) =>
        `Moved ${(end - first).toLocaleString('en')} entries of ${chain} from the data file to ${archive}. Keep the folder: the trail records its digest.`,
    ),
    ...(moved.length > 0
      ? []
      : [
          `Nothing of ${own?.chain} can be pruned: before that day, every anchor must hold a checkpoint with no open approval before it.`,
        ]),
    ...(isScrubbed
      ? []
      : ['The -wal file next to the data file still holds them, because other processes are reading it.']),
  ])
  if (moved.length === 0) options.io.exitCode = EXIT.negative
}

interface Pruned extends SeqRange {
  chain: string
  /** Null where nothing was pruned. */
  archive: string | null
}

function isEmpty({ first, end }: SeqRange): boolean {
  return first === end
}

/** @returns what was pruned, with the digest of its manifest */
async function pruneChain(
  evidence: EvidenceDeps,
  { chain, beforeMs, archive, lanes }: { chain: string; beforeMs: number; archive: string; lanes: ExportedLanes },
  { io, before, reason, withoutAnchor: unused = [] }: PruneOptions,
): Promise<Pruned & { manifest: string | null }> {
  const verifying = progressBar(io, `${chain}, verifying`, await evidence.store.seqNotBefore(chain, `${before}T`))
  const range = await prunable(evidence, chain, { beforeMs, unused }, verifying.at).finally(verifying.end)
  const { first, end } = range
  if (isEmpty(range)) return { chain, first, end, archive: null, manifest: null }
  const archiving = progressBar(io, `${chain}, archiving`, end - first)
  const writing = writeExport(evidence, chain, range, archive, { lanes, onProgress: archiving.at })
  const { digest: manifest } = await writing.finally(archiving.end)
  const deleting = progressBar(io, `${chain}, deleting`, end - first)
  const record = { archive: { first, manifest }, reason }
  await prune(evidence, hostActor(), range, record, deleting.at).finally(deleting.end)
  return { chain, first, end, archive, manifest }
}
