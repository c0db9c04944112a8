import { join } from 'node:path'
import { type ExportedLanes, exportRange, type RangeOptions } from '../../actions/audit/export-range.ts'
import { dayRange, prunedInto, verifySeqs } from '../../actions/audit/verify-range.ts'
import type { Deps } from '../../actions/deps.ts'
import type { EvidenceDeps } from '../../actions/evidence/evidence.ts'
import { laneNumber } from '../../audit/chain.ts'
import { counted } from '../../base/counted.ts'
import { digestOf } from '../../base/digest.ts'
import { visibleJson } from '../../base/visible.ts'
import { MANIFEST_FILE, type Manifest } from '../../evidence/export.ts'
import { exportFolder } from '../../files/export-folder.ts'
import { lengthOf, oldestOf } from '../../store/bounds.ts'
import type { SeqRange } from '../../store/queries.ts'
import type { GateCommand } from '../command.ts'
import { CannotRun, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { withKeyring } from '../evidence/keyring.ts'
import { print } from '../output.ts'
import { progressBar } from '../progress.ts'
import { addChainOptions, type ChainOptions, chainNamed, chainsIn, folderFor } from './list.ts'

interface ExportOptions extends ChainOptions {
  from?: string
  to?: string
  out: string
}

export function addAuditExportCommand(audit: GateCommand): void {
  addChainOptions(audit.command('export'))
    .description('export entries with a signed manifest, to verify them without this service')
    .option('--from <day>', 'first day, YYYY-MM-DD')
    .option('--to <day>', 'last day, YYYY-MM-DD')
    .requiredOption('--out <folder>', 'folder to write; it must not hold an export yet')
    .example('audit export --tenant acme --from 2026-01-01 --to 2026-01-31 --out january')
    .action(exportCommand)
}

async function exportCommand(options: ExportOptions): Promise<void> {
  const { from, to, out } = options
  if ((from === undefined) !== (to === undefined)) throw new UsageError('Give --from and --to together.')
  const [own, ...lanes] = await withStore(options, async (deps, config) => {
    const trail = await chainNamed(deps, options)
    const ranges = await verifiedRanges(deps, trail, options)
    const evidence = await withKeyring(deps, config)
    const exported: Exported[] = []
    const manifests: ExportedLanes = {}
    // Lanes first: the manifest of the trail's own chain names theirs.
    for (const [chain, range] of [...ranges].reverse()) {
      const folder = folderFor(out, trail, chain)
      const progress = progressBar(options.io, chain, range.end - range.first)
      const writing = writeExport(evidence, chain, range, folder, {
        lanes: chain === trail ? manifests : {},
        onProgress: progress.at,
      })
      const { manifest, digest } = await writing.finally(progress.end)
      const { first, end } = manifest
      manifests[laneNumber(chain)] = digest
      exported.unshift({ chain, first, end, folder, manifest: join(folder, MANIFEST_FILE) })
    }
    return exported
  })
  const all = own === undefined ? [] : [own, ...lanes]
  print(options, { ...own, ...(lanes.length > 0 && { lanes }) }, () => [
    ...all.map(
      ({ chain, first, end, folder }) =>
        `Exported ${(end - first).toLocaleString('en')} entries of ${chain} to ${folder}.`,
    ),
    `Verify them anywhere: gate-sidecar evidence verify ${out} --trust trust.json`,
  ])
}

interface Exported {
  chain: string
  first: number
  end: number
  folder: string
  /** Path of the manifest. */
  manifest: string
}

/** Ranges to export of a trail, by chain. A lane without entries of the days is left out. @throws CannotRun */
async function verifiedRanges(deps: Deps, trail: string, options: ExportOptions): Promise<Map<string, SeqRange>> {
  const ranges = new Map<string, SeqRange>()
  for (const chain of await chainsIn(deps, trail)) {
    const range = await rangeOf(deps, chain, options)
    if (chain !== trail && range.first === range.end) continue
    const verifying = progressBar(options.io, `${chain}, verifying`, range.end - range.first)
    const verified = await verifySeqs(deps.store, chain, range, {}, verifying.at).finally(verifying.end)
    if (!verified.valid)
      throw new CannotRun(`Nothing was exported, because audit chain ${chain} does not verify: ${verified.fault}.`)
    ranges.set(chain, range)
  }
  return ranges
}

/** The whole chain, or the given days. */
async function rangeOf({ store }: Deps, chain: string, { from, to }: ExportOptions) {
  if (from === undefined || to === undefined)
    return {
      first: await oldestOf(store, chain),
      end: await lengthOf(store, chain),
    }
  const size = await prunedInto(store, chain, from)
  if (size !== undefined) throw new CannotRun(`The entries before ${size} were pruned; read them from their archive.`)
  return dayRange(store, chain, { startDate: from, endDate: to })
}

/** Writes the entries, and the files that verify them, into a folder. @returns the manifest and its digest as written */
export async function writeExport(
  evidence: EvidenceDeps,
  chain: string,
  range: { first: number; end: number },
  out: string,
  options: RangeOptions,
): Promise<{ manifest: Manifest; digest: string }> {
  const folder = exportFolder(out)
  const manifest = await exportRange(evidence, chain, range, folder, options)
  const text = `${visibleJson(manifest)}\n`
  folder.writeText('checkpoint.txt', manifest.checkpoint)
  folder.writeText('VERIFY.md', instructions(manifest))
  folder.writeText(MANIFEST_FILE, text)
  return { manifest, digest: digestOf(text) }
}

function instructions({ chain, first, end, origin, exportedAt, lanes = {} }: Manifest): string {
  const count = Object.keys(lanes).length
  const beside = count === 0 ? '' : ` The folders \`lane-*\` hold those of ${counted(count, 'lane')} of the same trail.`
  return `# Entries ${first} to ${end - 1} of ${chain}

Exported at ${exportedAt} by ${origin}. \`entries.jsonl\` holds the entries. \`manifest.json\` holds the signature and the signed checkpoint over the entries.${beside}

Get the trust file of ${origin} over a trusted channel, not from the sender of this folder. Then verify the folder with either command, offline:

    gate-sidecar evidence verify . --trust trust.json
    python3 -m gate_sidecar.verify . --trust trust.json

The page docs/evidence.md of gate-sidecar specifies the formats. It is all you need to write a verifier.
`
}
