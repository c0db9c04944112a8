import { Option } from 'commander'
import type { Deps } from '../../actions/deps.ts'
import { historyReader } from '../../actions/gate/history.ts'
import { withBefore } from '../../actions/replay/before.ts'
import { replayTrail } from '../../actions/replay/replay.ts'
import { headsOf, type Seal, sealReplay } from '../../actions/replay/seal.ts'
import { chainOf } from '../../audit/chain.ts'
import { parseGlob } from '../../base/glob.ts'
import { formatTimestamp, parseDuration } from '../../base/time.ts'
import { tenantsIn } from '../../files/policies.ts'
import type { PolicySet } from '../../policies/set.ts'
import { HISTORIES } from '../../replay/decide.ts'
import { junitOf } from '../../replay/junit.ts'
import { type ChangeLimit, changeLimitOf, LIMIT_FORM, limitsOf } from '../../replay/limits.ts'
import { markdownOf } from '../../replay/markdown.ts'
import { reachOf, replayHere } from '../../replay/replay.ts'
import { type Limited, type ShownReplay, shownRange } from '../../replay/shown.ts'
import type { Config } from '../../service/config.ts'
import { policiesFolder } from '../../service/paths.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, EXIT, environmentOption, hostActor, UsageError, valueParser } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { findSetIn } from '../decisions/explain.ts'
import { print, undisguisedLines } from '../output.ts'
import { type Progress, progressBar } from '../progress.ts'
import { setBySettings, validSet } from '../tenant-folders.ts'
import { linesOf } from './lines.ts'
import { ofInput } from './of-input.ts'
import { type Range, type ReplayOptions, rangeOf } from './options.ts'

const limitArgument = (text: string, earlier: readonly ChangeLimit[] = []): ChangeLimit[] => [
  ...earlier,
  valueParser(changeLimitOf, LIMIT_FORM)(text),
]
const numberArgument = valueParser(
  (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
  'A whole number above 0',
)

export function addReplayCommand(program: GateCommand): void {
  addCommonOptions(program.command('replay [input]'), 'data', 'policies')
    .description(
      'decide recorded requests again with a draft, and show what changes; records nothing but with --seal. The requests are those of the trail, or of an input: an export, a corpus, lines of requests, a decision log of OPA or an audit log of Cerbos; - is stdin',
    )
    .option(
      '--since <duration>',
      'requests of the last 24h, 30m or 7d (default: 24h)',
      valueParser(parseDuration, 'A duration such as 24h'),
    )
    .option('--from <time>', 'first day (YYYY-MM-DD, UTC) or time (RFC 3339), instead of --since')
    .option('--to <time>', 'last day, or the time before which requests are decided again')
    .option('--tenant <id>', 'only this tenant; by default all that have policies and a trail')
    .addOption(environmentOption())
    .option('--action <pattern>', 'only these actions', valueParser(parseGlob, 'A pattern such as payment.*'))
    .option('--sample <n>', 'only about this number of requests, evenly spread', numberArgument)
    .addOption(
      new Option(
        '--history <which>',
        'earlier actions that facts over time count: those that were allowed, or that the draft would have allowed',
      )
        .choices(HISTORIES)
        .default('recorded'),
    )
    .option('--fail-on <limit>', `exit 1 if more changes; may be repeated: ${LIMIT_FORM}`, limitArgument)
    .addOption(
      new Option('--format <format>', 'output format').choices(['text', 'json', 'junit', 'markdown']).default('text'),
    )
    .option('--seal', 'record in the trail that the draft was tried, on what, and with what result')
    .option('--verbose', 'show the first decision of each kind with all rules, as then and by the draft')
    .example(
      "replay --policies draft --since 7d --fail-on 'allow->deny>0'",
      'replay --policies draft --tenant acme --action "payment.*" --format markdown',
      'replay decisions.jsonl --policies draft --tenant acme',
    )
    .action(replay)
}

async function replay(path: string | undefined, options: ReplayOptions): Promise<void> {
  const range = rangeOf(options, path !== undefined)
  if (options.sample !== undefined && options.history === 'draft')
    throw new UsageError('--sample leaves out what --history draft counts; give one of them.')
  if (options.seal && path !== undefined)
    throw new UsageError('--seal is about the trail, which does not know the requests of an input.')
  const limited =
    path === undefined ? await ofTrails(options, range) : [withLimits(await ofInput(path, options, range), options)]
  show(limited, options)
  if (limited.some(({ limits }) => limits.some(({ exceeded }) => exceeded))) options.io.exitCode = EXIT.negative
}

function ofTrails(options: ReplayOptions, range: Range): Promise<Shown[]> {
  return withStore(options, async (deps, config) => {
    const all: Shown[] = []
    for (const set of await draftsOf(deps, config, options)) {
      const one = withLimits(await replayed(deps, config, options, set, range), options)
      // Exceeded limits are part of the result.
      all.push(options.seal ? { ...one, seal: await sealReplay(deps, one, { given: one, actor: hostActor() }) } : one)
    }
    return all
  })
}

type Shown = Limited & { seal?: Seal }

function withLimits(shown: ShownReplay, { failOn = [] }: ReplayOptions): Limited {
  return { ...shown, limits: limitsOf(failOn, shown.report) }
}

function show(shown: readonly Shown[], { io, json, format, verbose }: ReplayOptions): void {
  if (json || format === 'json') print({ io, json: true }, { replays: shown }, () => [])
  else if (format === 'junit') io.stdout.write(junitOf(shown))
  else if (format === 'markdown') io.stdout.write(markdownOf(shown))
  else print({ io }, shown, () => undisguisedLines(shown.flatMap((one) => linesOf(one, verbose === true))))
}

/** The drafts: of one tenant, or of all that have policies and requests. */
async function draftsOf(deps: Deps, config: Config, { tenant, environment }: ReplayOptions): Promise<PolicySet[]> {
  const folder = policiesFolder(config)
  const known = folder === undefined ? [...deps.store.state().policies.keys()] : tenantsIn(folder)
  if (tenant !== undefined) assertTenant(deps, tenant)
  const chains = await deps.store.chains()
  const asked = tenant === undefined ? known.filter((id) => chains.includes(chainOf(id, environment))) : [tenant]
  if (asked.length === 0)
    throw new CannotRun(
      `No tenant with policies has requests in ${environment}; name one with --tenant, or see --data.`,
    )
  const sets: PolicySet[] = []
  for (const id of asked.sort()) {
    const set = folder === undefined ? await setBySettings(deps, config, id) : validSet(folder, id)
    if (set === undefined) throw new CannotRun(`The store has no policies of ${id}; name a folder with --policies.`)
    sets.push(set)
  }
  return sets
}

async function replayed(
  deps: Deps,
  config: Config,
  { environment, action, sample, history, io }: ReplayOptions,
  set: PolicySet,
  range: Range,
): Promise<ShownReplay> {
  const trail = chainOf(set.tenant, environment)
  let bar: Progress | undefined
  const onProgress = (read: number, total: number): void => {
    bar ??= progressBar(io, `replaying ${trail}`, total)
    bar.at(read)
  }
  const request = { trail, ...range, action, sample, history }
  const inForce = deps.store.state().policies.get(set.tenant)?.digest ?? null
  const began = { at: formatTimestamp(deps.clock()), heads: await headsOf(deps.store, trail), inForce }
  const draft = { reachMs: reachOf(set), start: replayHere(set) }
  const report = await replayTrail(deps.store, request, draft, { onProgress })
  bar?.end()
  const explain = { ...deps, history: historyReader(deps.store), findSet: findSetIn(deps, policiesFolder(config)) }
  return {
    ...{ trail, ...shownRange(range), policyDigest: set.digest, ...began, history },
    ...(action !== undefined && { action: action.text }),
    ...(sample !== undefined && { sample }),
    report: await withBefore(explain, report),
  }
}
