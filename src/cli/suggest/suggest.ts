import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { headsOf } from '../../actions/replay/seal.ts'
import { baseOf, suggest as suggestFrom } from '../../actions/suggest/suggest.ts'
import { chainOf } from '../../audit/chain.ts'
import { formatDiagnostic } from '../../authoring/diagnostics/text.ts'
import type { Environment } from '../../base/environment.ts'
import { DAY_MS, parseDuration } from '../../base/time.ts'
import { visibleJson } from '../../base/visible.ts'
import { readTenantFolder } from '../../files/read-folders.ts'
import { parseFactPath } from '../../policies/path.ts'
import { type Limited, shownRange } from '../../replay/shown.ts'
import { policiesFolder } from '../../service/paths.ts'
import type { Base } from '../../suggest/draft.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, configOf, environmentOption, valueParser } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import type { Io } from '../io.ts'
import { print, undisguisedLines } from '../output.ts'
import { type Progress, progressBar } from '../progress.ts'
import { type Range, rangeOf } from '../replay/options.ts'
import { shellWord } from '../shell.ts'
import { policiesRoot, validSet } from '../tenant-folders.ts'
import { freeFolder, writeDraft } from './folder.ts'
import { jsonOf, linesOf, type ShownSuggestions } from './lines.ts'

/** Days, or sessions, over which approvals must spread. */
const MIN_DAYS = 2
const STANDARD_DAYS = 30

interface SuggestOptions extends CommonOptions {
  tenant: string
  since?: number
  from?: string
  to?: string
  environment: Environment
  out?: string
  min: number
  minApprovers: number
  free?: readonly string[]
}

const numberArgument = valueParser(
  (text) => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined),
  'A whole number above 0',
)
const pathOf = valueParser((text) => {
  const path = parseFactPath(text)
  return path?.root === 'context' || path?.root === 'plan' ? path.text : undefined
}, 'A path such as context.note')
const freeArgument = (text: string, earlier: readonly string[] = []): string[] => [...earlier, pathOf(text)]

export function addSuggestCommand(program: GateCommand): void {
  addCommonOptions(program.command('suggest'), 'data', 'policies')
    .description(
      'propose policy changes from recorded requests: unused actions, limits far above what is used, holds that are always approved. --out writes a draft with tests. Nothing comes into force, and the trail is only read',
    )
    .requiredOption('--tenant <id>', 'tenant of the policies')
    .option(
      '--since <duration>',
      'requests of the last 24h, 30m or 7d (default: 30d)',
      valueParser(parseDuration, 'A duration such as 24h'),
    )
    .option('--from <time>', 'first day (YYYY-MM-DD, UTC) or time (RFC 3339), instead of --since')
    .option('--to <time>', 'last day, or the time before which requests are read')
    .addOption(environmentOption())
    .option('--out <folder>', 'folder for the draft, which becomes its subfolder named after the tenant')
    .option('--min <n>', 'requests or approvals that a proposal needs', numberArgument, 10)
    .option('--min-approvers <n>', 'distinct people who must have approved requests like it', numberArgument, 1)
    .option(
      '--free <path>',
      'argument whose value does not matter, such as context.note; may be repeated',
      freeArgument,
    )
    .example('suggest --tenant acme --since 30d', 'suggest --tenant acme --free context.note --out draft')
    .action(suggest)
}

async function suggest(options: SuggestOptions): Promise<void> {
  const { tenant, out } = options
  const range = rangeOf(
    { ...options, ...(options.from === undefined && { since: options.since ?? STANDARD_DAYS * DAY_MS }) },
    false,
  )
  const root = policiesRoot(options)
  validSet(root, tenant)
  const base = await baseIn(root, tenant)
  const folder = out === undefined ? undefined : freeFolder(out, tenant, inForce(options, root))
  const found = await withStore(options, (deps) => suggested(deps, options, base, range))
  if (folder === undefined || out === undefined || found.suggestions.suggested.length === 0) return show(found, options)
  // Hidden, since validate warns of visible files beside the tenants' folders.
  const report = join(out, `.${tenant}.replay.json`)
  if (existsSync(report))
    throw new CannotRun(`${report} is there, and suggest overwrites nothing; choose another --out.`)
  // The folders may have changed while the trail was read.
  freeFolder(out, tenant, inForce(options, root))
  const written = writeDraft(folder, base.source, found.suggestions.source, join(root, tenant))
  writeFileSync(report, `${visibleJson({ replays: [found.replay] })}\n`, { flag: 'wx' })
  show({ ...found, files: [...written, report], next: nextCommands(options, root, out) }, options)
}

function show(shown: ShownSuggestions, options: SuggestOptions): void {
  print(options, jsonOf(shown), () => undisguisedLines(linesOf(shown)))
}

/** @throws CannotRun if a test of the policies fails, since a draft must pass them too */
async function baseIn(root: string, tenant: string): Promise<Base> {
  const { source } = readTenantFolder(root, tenant)
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} ${source.problem}.`)
  const base = await baseOf(source)
  if (!('fault' in base)) return base
  const fault = base.fault === undefined ? '' : `\n${formatDiagnostic(base.fault, undefined)}`
  throw new CannotRun(`The policies of ${tenant} do not pass their tests; correct them first.${fault}`)
}

/** Folders of policies that a service may read: that of the command, and that of the settings. */
function inForce(options: SuggestOptions, root: string): string[] {
  const { policies: _, ...others } = options
  const set = policiesFolder(configOf(others))
  return set === undefined ? [root] : [root, set]
}

async function suggested(deps: Deps, options: SuggestOptions, base: Base, range: Range): Promise<ShownSuggestions> {
  const { tenant, environment, io, min, minApprovers, free = [] } = options
  assertTenant(deps, tenant)
  const trail = chainOf(tenant, environment)
  const minima = { requests: min, days: MIN_DAYS, approvers: minApprovers }
  const { from, to } = shownRange(range)
  const heads = await headsOf(deps.store, trail)
  const about = `Drafted by gate-sidecar suggest from ${trail}, ${from} to ${to ?? 'the last'}`
  const control = { onRead: progressOf(io, `reading ${trail}`), onTry: progressOf(io, `trying ${trail}`) }
  const suggestions = await suggestFrom(deps, { trail, ...range }, base, { minima, free }, about, control)
  if (suggestions.counts.read === 0)
    throw new CannotRun(`${trail} has no requests in this range; see --since, --environment and --data.`)
  const replay: Limited = {
    ...{ trail, from, to, policyDigest: suggestions.digest, heads, history: 'recorded' as const },
    inForce: deps.store.state().policies.get(tenant)?.digest ?? null,
    ...{ report: suggestions.report, limits: [] },
  }
  return { suggestions, replay, policyDigest: base.set.digest, minima, files: [], next: [] }
}

function progressOf(io: Io, what: string): (read: number, total: number) => void {
  let bar: Progress | undefined
  return (read, total) => {
    bar ??= progressBar(io, what, total)
    bar.at(read)
    if (read >= total) bar.end()
  }
}

/** Commands that test a draft before it comes into force. */
function nextCommands({ tenant, data }: SuggestOptions, root: string, out: string): string[] {
  const [draft, policies] = [shellWord(out), shellWord(root)]
  const beside = data === undefined ? '' : ` --data ${shellWord(data)}`
  return [
    `gate-sidecar test --policies ${draft}`,
    `gate-sidecar diff ${policies} ${draft} --tenant ${tenant}`,
    `gate-sidecar replay --policies ${draft} --tenant ${tenant} --seal${beside}`,
  ]
}
