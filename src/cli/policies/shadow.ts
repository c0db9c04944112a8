import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { type Comparison, failedTexts, shadowComparer } from '../../actions/policies/comparison.ts'
import { rulesInShadow, type ShadowOrigin, sinceOf } from '../../actions/policies/shadow.ts'
import { chainOf } from '../../audit/chain.ts'
import { counted } from '../../base/counted.ts'
import type { Environment } from '../../base/environment.ts'
import { SHADOW } from '../../files/policies.ts'
import { readTenantFolder } from '../../files/read-folders.ts'
import type { PolicySet } from '../../policies/set.ts'
import { changedOf, percentOf } from '../../replay/shown.ts'
import { CannotRun, type CommonOptions } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { type Line, paint, print } from '../output.ts'
import { matrixLines } from '../replay/lines.ts'
import { noFolderOf, policiesRoot, requireFolder } from '../tenant-folders.ts'
import { type Checked, checkedFolder } from './push.ts'
import { printReport } from './report.ts'

export interface ShadowOptions extends CommonOptions {
  tenant: string
  environment: Environment
}

/** The files of a set in shadow; for rules in shadow, those of the set in force. */
export interface Candidate extends Checked {
  origin: ShadowOrigin
  set: PolicySet
}

/** A set in shadow, since when it is there, and what it said. */
export interface Compared extends Comparison {
  tenantId: string
  origin: ShadowOrigin
  digest: string
  since: string
}

/** Shows what the set in shadow would have decided otherwise. */
export async function shadow(options: ShadowOptions): Promise<void> {
  const candidate = await candidateOf(options)
  if (candidate === undefined) return
  const compared = await withStore(options, (deps) => comparedIn(deps, options, candidate))
  print(options, compared, () => comparisonLines(compared))
}

/** The tenant's set in shadow. Undefined when its files have faults, which are printed then. @throws CannotRun */
export async function candidateOf(options: ShadowOptions): Promise<Candidate | undefined> {
  const { tenant } = options
  const root = policiesRoot(options)
  requireFolder(root)
  const path = join(root, `${tenant}${SHADOW}`)
  const origin = existsSync(path) ? 'folder' : 'rules'
  if (origin === 'rules' && !existsSync(join(root, tenant))) throw noFolderOf(tenant, root)
  const folder = readTenantFolder(root, tenant, origin === 'folder' ? SHADOW : '')
  const checked = await checkedFolder(folder)
  const { set } = checked
  if (set === undefined) {
    printReport({ ...options, format: 'text' }, resolve('.'), [folder], checked.diagnostics)
    return undefined
  }
  if (origin === 'rules' && rulesInShadow(set).length === 0)
    throw new CannotRun(
      `Nothing of ${tenant} is in shadow: write \`mode: shadow\` in a rule, or put a set into the folder ${path}.`,
    )
  return { ...checked, set, origin }
}

/** Counts what the set said. @throws CannotRun when the trail does not know it in shadow */
export async function comparedIn(
  deps: Deps,
  { tenant, environment }: ShadowOptions,
  { origin, set }: Pick<Candidate, 'origin' | 'set'>,
): Promise<Compared> {
  const { store } = deps
  assertTenant(deps, tenant)
  const since = await sinceOf(store, tenant, origin, set)
  if (since === undefined) {
    const what = origin === 'folder' ? 'in shadow' : 'in force'
    throw new CannotRun(
      `The files of ${tenant} give the set ${set.digest}, which is not the newest ${what} by the trail: let the service take them in, and decide for a while.`,
    )
  }
  const { digest } = (origin === 'rules' ? set.shadow : undefined) ?? set
  const compare = shadowComparer(store)
  const trail = chainOf(tenant, environment)
  let comparison: Comparison
  do comparison = await compare(trail, digest, since)
  while (!comparison.complete)
  return { tenantId: tenant, origin, digest, since, ...comparison }
}

export function comparisonLines(compared: Compared): Line[] {
  const { tenantId, origin, digest, since, decisions, matrix } = compared
  const changed = changedOf({ matrix })
  const of = origin === 'rules' ? 'the set in force, with its rules in shadow enforced' : `${tenantId}${SHADOW}`
  return [
    [paint('bold', `shadow of ${tenantId}`), ` since ${since}`],
    `set           ${digest} (${of})`,
    `asked         ${counted(decisions, 'decision')}`,
    ...failedTexts(compared).map((text) => `left out      ${text}`),
    `differs       ${changed} (${percentOf(changed, decisions)})`,
    ...(decisions === 0 ? [] : ['', ...matrixLines({ matrix }, 'decided \\ shadow')]),
    ...(changed === 0 ? [] : ['', `See them with \`gate-sidecar decisions list --tenant ${tenantId} --differs\`.`]),
  ]
}
