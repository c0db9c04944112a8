import { resolve } from 'node:path'
import { eventEntry } from '../../actions/deps.ts'
import type { Override } from '../../actions/policies/admission.ts'
import { chainOf } from '../../audit/chain.ts'
import { isDigest } from '../../base/digest.ts'
import { MAX_REASON } from '../../evidence/prune.ts'
import { readAsTenant } from '../../files/read-folders.ts'
import { CannotRun, type CommonOptions, hostActor, UsageError } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { print } from '../output.ts'
import { checkedFolder, folderBySettings } from './push.ts'
import { printReport } from './report.ts'

interface OverrideOptions extends CommonOptions {
  tenant: string
  reason: string
}

/** Lets a set come into force in place of the one now, without the replay that the settings require. */
export async function override(named: string | undefined, options: OverrideOptions): Promise<void> {
  const { tenant, reason } = options
  if (reason.trim() === '') throw new UsageError('--reason is empty; say why the set may come into force untried.')
  if (reason.length > MAX_REASON) throw new UsageError(`--reason: at most ${MAX_REASON} characters.`)
  const digest = named !== undefined && isDigest(named) ? named : await digestOf(named, options)
  if (digest === undefined) return
  const told = await withStore(options, async (deps) => {
    assertTenant(deps, tenant)
    const record = deps.store.state().policies.get(tenant)
    if (record === undefined) throw new CannotRun(`No set of ${tenant} is in force yet; the first one needs no replay.`)
    if (record.digest === digest) throw new CannotRun(`The set ${digest} is in force already.`)
    const data: Override = { tenantId: tenant, digest, inForce: record.digest, revision: record.revision, reason }
    const entry = eventEntry(deps, chainOf(tenant, 'live'), 'policy.overridden', data, hostActor())
    await deps.store.commit({ guards: [], writes: [], entries: [entry] })
    return { ...data, entryId: entry.id }
  })
  print(options, told, () => [
    `The set ${digest} may come into force in place of ${told.inForce}; entry ${told.entryId}.`,
  ])
}

/** Digest of the set of a folder or file. Undefined when it has faults, which are printed then. */
async function digestOf(path: string | undefined, options: OverrideOptions): Promise<string | undefined> {
  const folder = readAsTenant(path === undefined ? folderBySettings(options) : resolve(path), options.tenant)
  const { set, diagnostics } = await checkedFolder(folder)
  if (set === undefined) printReport({ ...options, format: 'text' }, resolve('.'), [folder], diagnostics)
  return set?.digest
}
