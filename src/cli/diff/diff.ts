import { Option } from 'commander'
import { sealDiff } from '../../actions/replay/seal.ts'
import { type Diff, diffSets } from '../../authoring/diff/diff.ts'
import { diffMarkdown } from '../../authoring/diff/markdown.ts'
import type { TenantDiff } from '../../authoring/diff/shown.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, EXIT, hostActor } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { print, undisguisedLines } from '../output.ts'
import { progressBar } from '../progress.ts'
import { diffLines } from './lines.ts'
import { setsNamed } from './sets.ts'

interface DiffOptions extends CommonOptions {
  tenant?: string
  format: 'text' | 'json' | 'markdown'
  exitCode?: boolean
  seal?: boolean
}

export function addDiffCommand(program: GateCommand): void {
  addCommonOptions(program.command('diff <old> <new>'), 'data', 'policies')
    .description(
      'show what a change of policies means: rules and factors that differ, and requests that both sets decide differently. Each set is a folder, git:REV for the folder of --policies at a revision, or the digest of a set that was in force',
    )
    .option('--tenant <id>', 'only this tenant')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'markdown']).default('text'))
    .option('--seal', 'record in the trail that the sets were compared, and what was found')
    .option('--exit-code', 'exit 1 if some request is decided differently')
    .example(
      'diff git:main policies --policies policies',
      'diff policies draft --tenant acme --format markdown',
      'diff policies draft --tenant acme --seal',
    )
    .action(diff)
}

async function diff(old: string, now: string, options: DiffOptions): Promise<void> {
  const [before, after] = [await setsNamed(old, options), await setsNamed(now, options)]
  const tenants = [...new Set([...before.keys(), ...after.keys()])].sort()
  const diffs: TenantDiff[] = tenants.map((tenant) => {
    const [a, b] = [before.get(tenant), after.get(tenant)]
    if (a === undefined || b === undefined) return { tenant, only: a === undefined ? 'new' : 'old', diff: null }
    const bar = progressBar(options.io, `comparing ${tenant}`, 100)
    const found = diffSets(a, b, (share) => bar.at(Math.floor(share * 100)))
    bar.end()
    return { tenant, only: null, diff: found }
  })
  if (diffs.length === 0) throw new CannotRun(`Neither ${old} nor ${now} has policies.`)
  const shown = options.seal ? await sealed(diffs, options) : diffs
  const { io, json, format } = options
  if (json || format === 'json') print({ io, json: true }, { diffs: shown }, () => [])
  else if (format === 'markdown') io.stdout.write(diffMarkdown(shown))
  else print({ io }, shown, () => undisguisedLines(shown.flatMap(diffLines)))
  const differs = diffs.some(({ only, diff: one }) => only !== null || hasOtherDecision(one))
  if (options.exitCode && differs) io.exitCode = EXIT.negative
}

/** Records the differences, each in the chain of its tenant. @throws CannotRun for a tenant that is not there */
function sealed(diffs: readonly TenantDiff[], options: DiffOptions): Promise<TenantDiff[]> {
  return withStore(options, async (deps) => {
    for (const { tenant } of diffs) assertTenant(deps, tenant)
    const all: TenantDiff[] = []
    for (const one of diffs)
      all.push(one.diff === null ? one : { ...one, seal: await sealDiff(deps, one.tenant, one.diff, hostActor()) })
    return all
  })
}

function hasOtherDecision(diff: Diff | null): boolean {
  return diff?.witnesses.some(({ difference }) => difference === 'decision') === true
}
