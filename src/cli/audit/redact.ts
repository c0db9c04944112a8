import { redact } from '../../actions/audit/redact.ts'
import type { Deps } from '../../actions/deps.ts'
import { trailOf } from '../../audit/chain.ts'
import { formatTimestamp, parseDate } from '../../base/time.ts'
import type { SeqRange } from '../../store/queries.ts'
import type { GateCommand } from '../command.ts'
import { CannotRun, collect, EXIT, hostActor, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { type Line, print } from '../output.ts'
import { progressBar } from '../progress.ts'
import { addChainOptions, type ChainOptions, chainNamed } from './list.ts'

interface Span extends SeqRange {
  chain: string
}

export function addAuditRedactCommand(audit: GateCommand): void {
  addChainOptions(audit.command('redact'))
    .description('erase the content of requests, entries of callers and closed approvals; the chain stays verifiable')
    .option('--entry <id>', 'decision (dec_…) or entry (aud_…) to erase; may be given several times', collect)
    .option('--before <day>', 'erase everything before this day, YYYY-MM-DD')
    .requiredOption('--reason <text>', 'reason, recorded in the trail; leave out personal data')
    .notes(`
This cannot be undone. Earlier backups, exports and bundles still hold the erased content.`)
    .example("audit redact --tenant acme --before 2025-12-01 --reason 'kept for a year'")
    .action(redactCommand)
}

async function redactCommand(
  options: ChainOptions & { entry?: string[]; before?: string; reason: string },
): Promise<void> {
  const { entry: ids, before, reason } = options
  if ((ids === undefined) === (before === undefined)) throw new UsageError('Give --entry or --before.')
  const sum = { entries: 0, sections: 0, approvals: 0, kept: 0 }
  const isScrubbed = await withStore(options, async (deps) => {
    const trail = await chainNamed(deps, options)
    const spans = ids === undefined ? await spansBefore(deps, trail, before ?? '') : await spansOf(deps, trail, ids)
    for (const span of spans) {
      const progress = progressBar(options.io, span.chain, span.end - span.first)
      const done = await redact(deps, hostActor(), { ...span, reason }, progress.at).finally(progress.end)
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += done[name]
    }
    return scrub(deps)
  })
  print(options, { ...sum, scrubbed: isScrubbed }, (): Line[] => [
    sum.sections === 0
      ? 'Nothing to erase.'
      : `Erased ${sum.sections} sections of ${sum.entries} entries, and ${sum.approvals} approvals. Earlier backups, exports and bundles still hold them.`,
    ...(sum.kept > 0 ? [`${sum.kept} approvals are still open and were kept.`] : []),
    ...(isScrubbed
      ? []
      : [
          'The -wal file next to the data file still holds them, because other processes are reading it. Run this again later.',
        ]),
  ])
  if (sum.sections === 0) options.io.exitCode = EXIT.negative
}

async function spansBefore({ store }: Deps, trail: string, day: string): Promise<Span[]> {
  const ms = parseDate(day)
  if (ms === undefined) throw new UsageError(`--before: ${day} is not a day such as 2026-01-31.`)
  const spans: Span[] = []
  for (const chain of await store.lanes(trail))
    spans.push({ chain, ...(await store.seqRange(chain, formatTimestamp(0), formatTimestamp(ms))) })
  return spans
}

async function spansOf({ store }: Deps, trail: string, ids: readonly string[]): Promise<Span[]> {
  const spans: Span[] = []
  for (const id of ids) {
    const header = (await store.entry(id.replace(/^dec_/, 'aud_')))?.header
    if (header === undefined || (header.chain !== trail && trailOf(header.chain) !== trail))
      throw new CannotRun(`There is no entry ${id} in ${trail}.`)
    const { chain, seq } = header
    spans.push({ chain, first: seq, end: seq + 1 })
  }
  return spans
}

const SCRUB_ATTEMPTS = 20
const SCRUB_PAUSE_MS = 100

/** Other readers may block it for a moment. */
export async function scrub({ store }: Deps): Promise<boolean> {
  for (let attempt = 0; attempt < SCRUB_ATTEMPTS; attempt += 1) {
    if (await store.scrub()) return true
    await new Promise((resolve) => setTimeout(resolve, SCRUB_PAUSE_MS))
  }
  return false
}
