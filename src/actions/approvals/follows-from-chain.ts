import type { Approval } from '../../approvals/approval.ts'
import { hashHeader, type StoredEntry } from '../../audit/entry.ts'
import { contentFault } from '../../audit/verify.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { applyChange, changeIn } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/**
 * True when the approval is exactly what its audit entries make of it, each with its own hash and its successor's link.
 * A row edited in the file, for a second use or another request, fails here before it can allow anything.
 */
export async function followsFromChain(store: Store, approval: Approval): Promise<boolean> {
  const entries = await store.changesOf('approval', approval.id)
  if (entries.length === 0) return false
  let record: ReturnType<typeof applyChange> | undefined
  for (const entry of entries) {
    if (entry.header.chain !== approval.chain || !(await isIntact(store, entry))) return false
    const data = changeIn(entry)
    if (data === undefined) return false
    record = applyChange(record, data)
  }
  return canonicalText(record) === canonicalText(approval)
}

/** The canonical text; undefined for a value without one, which this service never wrote. */
function canonicalText(value: unknown): string | undefined {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** True when the entry has its own hash and its successor links to it. */
export async function isIntact(store: Store, entry: StoredEntry): Promise<boolean> {
  const { chain, seq } = entry.header
  if (hashHeader(entry.headerText) !== entry.hash || contentFault(entry) !== undefined) return false
  const next = await store.entryAt(chain, seq + 1)
  return next === undefined || next.header.prev === entry.hash
}
