import { setTimeout as sleep } from 'node:timers/promises'
import type { PolicyFolders } from '../actions/policies/folders.ts'
import { type Bounded, mentionsLists, RETRY_MS, type TenantFolder } from '../authoring/load/files.ts'
import { isTenantId } from '../keys/tenant.ts'
import { missingFolder, ofTenant, readFiles, type SHADOW, type TenantFiles, tenantsIn, withLists } from './policies.ts'
import type { PolicyWorker } from './policy-worker.ts'

/** Interval between two readings that must be equal: longer than a Kubernetes ConfigMap takes to swap its files. */
const SETTLE_MS = 100
/** Readings after which a folder is reported as changing. */
const READINGS = 20

/**
 * Reads the folders under `root` repeatedly. Each reading hashes all bytes, since a time or a size may stay as it was.
 * It parses, which may take a second, only changed bytes.
 *
 * @param listFiles finds the lists that policies name; called only for policies that may name any
 * @param ending of the names of the folders, behind the tenant's id
 */
export function policyFolders(
  root: string,
  { listFiles }: Pick<PolicyWorker, 'listFiles'>,
  ending: '' | typeof SHADOW = '',
): PolicyFolders {
  const known = new Map<string, { digest: string; paths: Bounded<readonly string[]>; untilMs: number }>()
  const pathsOf = async (tenant: string, { files, digest }: TenantFiles): Promise<Bounded<readonly string[]>> => {
    const earlier = known.get(tenant)
    if (earlier?.digest === digest && performance.now() < earlier.untilMs) return earlier.paths
    const paths = files.some(mentionsLists) ? await listFiles(files) : { value: [] }
    const untilMs = 'fault' in paths ? performance.now() + RETRY_MS : Number.POSITIVE_INFINITY
    known.set(tenant, { digest, paths, untilMs })
    return paths
  }
  const read = async (tenant: string): Promise<TenantFolder> => {
    if (!isTenantId(tenant)) return missingFolder(tenant)
    const files = readFiles(root, `${tenant}${ending}`)
    if ('source' in files) return ofTenant(files, tenant)
    const paths = await pathsOf(tenant, files)
    if ('fault' in paths) return { tenant, fingerprint: files.digest, source: { problem: paths.fault } }
    return ofTenant(withLists(root, files, paths.value), tenant)
  }
  return {
    names: () => tenantsIn(root, ending),
    read,
    async readSettled(tenant) {
      // A caller asked for this reading, so a fault is retried before its minute is over.
      const earlier = known.get(tenant)
      if (earlier !== undefined && 'fault' in earlier.paths) known.delete(tenant)
      // Keep the fingerprint alone: all folders may be read at this time, and their bytes would be in memory together.
      let last = (await read(tenant)).fingerprint
      for (let readings = 1; readings < READINGS; readings += 1) {
        await sleep(SETTLE_MS)
        const next = await read(tenant)
        if (next.fingerprint === last) return next
        last = next.fingerprint
      }
      return { tenant, fingerprint: 'changing', source: { problem: 'changes each time it is read' } }
    },
  }
}
