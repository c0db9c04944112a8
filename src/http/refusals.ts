import { type Deps, eventEntry } from '../actions/deps.ts'
import { chainOf, SYSTEM_CHAIN } from '../audit/chain.ts'
import { SERVICE } from '../audit/draft.ts'
import { ERRORS, type ErrorCode } from '../base/errors.ts'
import type { ApiKey } from '../keys/apikey.ts'

/** True for codes that mean the caller is not who or what it needs to be. */
export function isRefusal(code: ErrorCode): boolean {
  return ERRORS[code].status === 401 || ERRORS[code].status === 403
}

interface Count {
  chain: string
  keyId: string | null
  codes: Map<ErrorCode, number>
}

/**
 * Counts refusals and writes them as one auth.refused entry for each key and minute. Probing is on record and cannot
 * fill the disk.
 * Unknown keys are counted together, in the service's own chain, or in that of the only tenant that is served.
 */
export function refusalLog(deps: Deps) {
  let counts = new Map<string, Count>()
  return {
    count(key: ApiKey | undefined, code: ErrorCode): void {
      if (!isRefusal(code)) return
      const tenantId = deps.store.tenant ?? key?.tenantId
      const chain = tenantId ? chainOf(tenantId, key?.environment ?? 'live') : SYSTEM_CHAIN
      const name = key?.id ?? ''
      const entry = counts.get(name) ?? { chain, keyId: key?.id ?? null, codes: new Map() }
      entry.codes.set(code, (entry.codes.get(code) ?? 0) + 1)
      counts.set(name, entry)
    },
    /** Writes the counts. After a failed write they are kept for the next one. @throws GateError of the store */
    async flush(): Promise<void> {
      if (counts.size === 0) return
      const due = counts
      counts = new Map()
      const entries = Array.from(due.values(), ({ chain, keyId, codes }) =>
        eventEntry(deps, chain, 'auth.refused', { keyId, refused: Object.fromEntries(codes) }, SERVICE),
      )
      try {
        await deps.store.commit({ guards: [], writes: [], entries })
      } catch (error) {
        for (const [name, count] of due) counts.set(name, sumOf(count, counts.get(name)))
        throw error
      }
    },
  }
}

/** Adds refusals that were counted during a failed write. */
function sumOf(before: Count, since: Count | undefined): Count {
  const codes = new Map(before.codes)
  for (const [code, times] of since?.codes ?? []) codes.set(code, (codes.get(code) ?? 0) + times)
  return { ...before, codes }
}

export type Refusals = ReturnType<typeof refusalLog>
