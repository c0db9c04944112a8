import type { Approval, Vote } from '../approvals/approval.ts'
import { hashHeader } from '../audit/chain.ts'
import { sectionFault } from '../audit/verify.ts'
import { canonicalJson } from '../base/canonical.ts'
import type { Store } from '../store.ts'

/**
 * True when every vote of the approval stands in an audit entry that still hashes to what it did and holds
 * exactly this vote. An approval row that was edited in the file fails here, before it can allow anything.
 */
export async function votesAreRecorded(store: Store, approval: Approval): Promise<boolean> {
  const recorded = await Promise.all(approval.votes.map((vote) => isRecorded(store, approval, vote)))
  return recorded.every(Boolean)
}

async function isRecorded(store: Store, approval: Approval, vote: Vote): Promise<boolean> {
  const entry = await store.entry(vote.entryId)
  if (entry === undefined || entry.header.type !== 'approval.approved' || entry.header.chain !== approval.chain)
    return false
  if (hashHeader(entry.headerText) !== entry.hash || sectionFault(entry) !== undefined) return false
  const next = await store.entryAt(entry.header.chain, entry.header.seq + 1)
  if (next !== undefined && next.header.prev !== entry.hash) return false
  const data = entry.sections.find(({ name }) => name === 'data')
  const { id, changes } = JSON.parse(data?.json ?? '{}')
  return id === approval.id && canonicalJson(changes?.votes?.at(-1) ?? null) === canonicalJson(vote)
}
