import type { TenantFolder } from '../../authoring/load/files.ts'
import type { Clock } from '../../base/time.ts'

/** The folders of all tenants. Faults of a folder never throw: they become its `problem`. */
export interface PolicyFolders {
  names(): string[]
  read(tenant: string): Promise<TenantFolder>
  /** Reads until two readings in a row, a moment apart, are equal. */
  readSettled(tenant: string): Promise<TenantFolder>
}

/** Time limit of a folder that keeps changing; beyond it that is a fault, since its content may matter. */
const UNSETTLED_MS = 10_000

/**
 * Detects a settled folder: two readings in a row were equal. A half-written file changes before the next reading, so
 * it never comes into force, valid or not.
 */
export function settling({ steady }: { steady: Clock }) {
  const changing = new Map<string, { fingerprint: string; sinceMs: number }>()
  /** The folder to handle; undefined while it changes. `taken` is the fingerprint of the last handled content. */
  return (folder: TenantFolder, taken: string | undefined): TenantFolder | undefined => {
    const { tenant, fingerprint } = folder
    const earlier = changing.get(tenant)
    if (fingerprint === taken || fingerprint === earlier?.fingerprint) {
      changing.delete(tenant)
      return folder
    }
    const sinceMs = earlier?.sinceMs ?? steady()
    changing.set(tenant, { fingerprint, sinceMs })
    if (steady() - sinceMs <= UNSETTLED_MS) return undefined
    const problem = `has been changing for more than ${UNSETTLED_MS / 1000} s`
    return { tenant, fingerprint: 'changing', source: { problem } }
  }
}
