import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { loadBefore, pushSet } from '../../actions/policies/push.ts'
import { type StoredSource, storedSource } from '../../actions/policies/stored.ts'
import { compileAndTest } from '../../authoring/cases/accept.ts'
import type { Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import { shown } from '../../authoring/diagnostics/formats.ts'
import type { PolicySource, TenantFolder } from '../../authoring/load/files.ts'
import { counted } from '../../base/counted.ts'
import { isDigest } from '../../base/digest.ts'
import { readAsTenant } from '../../files/read-folders.ts'
import { linkPolicySet } from '../../policies/link.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { PolicyRecord } from '../../store/records.ts'
import { CannotRun, type CommonOptions, hostActor, UsageError } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { type Line, paint, print } from '../output.ts'
import { compileHere, findingsIn, noFolderOf, policiesRoot, requireFolder } from '../tenant-folders.ts'
import { printReport } from './report.ts'

interface PushOptions extends CommonOptions {
  tenant: string
}

/** A set that was loaded and tested, or the faults that keep it from being one. */
export interface Checked {
  folder: TenantFolder
  set: PolicySet | undefined
  diagnostics: readonly Diagnostic[]
}

/** Puts the set of a folder, or of a file, in force. */
export async function push(path: string | undefined, options: PushOptions): Promise<void> {
  const { tenant } = options
  const folder = readAsTenant(path === undefined ? folderBySettings(options) : resolve(path), tenant)
  await putInForce(options, () => checkedFolder(folder))
}

/** The tenant's folder in the folder of all. @throws CannotRun when it is not there */
export function folderBySettings(options: PushOptions): string {
  const root = policiesRoot(options)
  requireFolder(root)
  const folder = join(root, options.tenant)
  if (!existsSync(folder)) throw noFolderOf(options.tenant, root)
  return folder
}

export async function checkedFolder(folder: TenantFolder): Promise<Checked> {
  const { source } = folder
  if ('problem' in source) return { folder, set: undefined, diagnostics: await findingsIn(folder, () => []) }
  const { data, diagnostics } = await compileAndTest(source)
  return { folder, set: data && linkPolicySet(data), diagnostics }
}

/** Puts an earlier set in force again. */
export async function rollback(options: PushOptions & { to?: string }): Promise<void> {
  const { tenant, to } = options
  if (to !== undefined && !isDigest(to))
    throw new UsageError(`--to: ${to} is not a digest such as \`gate-sidecar policies history\` lists.`)
  await putInForce(options, async (deps, earlier) => {
    if (earlier === undefined)
      throw new CannotRun(`No set of ${tenant} came into force yet; push one with \`gate-sidecar policies push\`.`)
    const load = await loadBefore(deps, earlier, to)
    if (load === undefined) throw new CannotRun(`No set of ${tenant} before ${earlier.digest} is in the audit chain.`)
    const compile = async (source: PolicySource) => ({ value: await compileAndTest(source) })
    const wanted = { sourceDigest: load.sourceDigest, withoutTests: false }
    return checkedStored(tenant, load.digest, await storedSource({ ...deps, compile }, tenant, load.digest, wanted))
  })
}

const NOT_USABLE = {
  policy_not_kept: 'is not in the store, which keeps the newest 100 sets of a tenant, up to 64 MiB',
  policy_altered: 'in the store has another text than the one that came into force: the store was altered',
}

function checkedStored(tenant: string, digest: string, found: StoredSource): Checked {
  if ('code' in found && found.code !== 'policy_unloadable')
    throw new CannotRun(`The set ${digest} ${NOT_USABLE[found.code]}. Push it from its files.`)
  const { set, source, diagnostics } = found
  return { folder: { tenant, fingerprint: digest, source }, set, diagnostics }
}

/** Puts a set in force after its check, during which the record of the tenant may not change. */
async function putInForce(
  options: PushOptions,
  check: (deps: Deps, earlier: PolicyRecord | undefined) => Promise<Checked>,
): Promise<void> {
  const { tenant } = options
  const { checked, pushed } = await withStore(options, async (deps, { requireReplay }) => {
    assertTenant(deps, tenant)
    const earlier = deps.store.state().policies.get(tenant)
    const checked = await check(deps, earlier)
    const { set, folder } = checked
    if (set === undefined || 'problem' in folder.source) return { checked, pushed: undefined }
    const candidate = { set, source: folder.source, earlier }
    return { checked, pushed: await pushSet({ ...deps, requireReplay, compile: compileHere }, candidate, hostActor()) }
  })
  const { folder, diagnostics } = checked
  if (pushed === undefined) return printReport({ ...options, format: 'text' }, resolve('.'), [folder], diagnostics)
  print(options, { ...pushed, diagnostics: diagnostics.map(shown) }, () => linesOf(pushed, diagnostics.length))
}

function linesOf(pushed: Awaited<ReturnType<typeof pushSet>>, warnings: number): Line[] {
  const { tenantId, digest, previous, changed, mode, rules, files, groupsWithoutKeys: groups } = pushed
  const size = `${counted(rules, 'rule')} in ${counted(files.length, 'file')}`
  return [
    changed ? `${tenantId} has the set ${digest}: ${size}.` : `${tenantId} has this set already, ${digest}.`,
    ...(changed && previous !== null && previous !== digest ? [`The set before was ${previous}.`] : []),
    ...(mode === 'observe' ? [[paint('yellow', 'It is only observed: every action runs, unless it is stopped.')]] : []),
    ...(warnings > 0 ? [`${counted(warnings, 'warning')}; \`gate-sidecar lint\` shows them.`] : []),
    ...(groups.length > 0 ? [`No active key belongs to these approver groups: ${groups.join(', ')}.`] : []),
  ]
}
