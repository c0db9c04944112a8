import type { Approval } from '../../approvals/approval.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { GateError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { neededKeys } from '../../evidence/voters.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { changeIn } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { redactionsAfter } from '../audit/redactions.ts'
import type { Deps } from '../deps.ts'

/**
 * The request and the votes of the approval that allowed the action. Empty without an approval; undefined when some of
 * it was erased, since the rest proves nothing.
 *
 * @throws GateError `audit_unavailable` when something is missing that no command erased
 */
export async function approvalEntries(deps: Deps, decided: StoredEntry): Promise<StoredEntry[] | undefined> {
  const section = (name: string): JsonObject => sectionValue(decided, name) ?? {}
  const { decidedBy, approvalId } = section('grounds')
  if (decidedBy !== 'approval' || section('decision').decision !== 'allow') return []
  const changes = await deps.store.changesOf('approval', String(approvalId))
  const cast = changes.filter(
    ({ header }) =>
      header.seq < decided.header.seq && (header.type === 'approval.requested' || header.type === 'approval.approved'),
  )
  if (isWhole(cast)) return cast
  const { chain, seq } = decided.header
  const isRecorded = (await redactionsAfter(deps.store, chain, 0)).some(
    ({ first, section: name }) => name === 'data' && first < seq,
  )
  if (isRecorded) return undefined
  throw new GateError('audit_unavailable', `Audit chain ${chain}: entries of approval ${approvalId} are missing.`)
}

/** True when the entries reach from the request to the deciding vote; erased ones are not among them. */
function isWhole(cast: readonly StoredEntry[]): boolean {
  const changes = cast.map((entry) => changeIn(entry)?.changes)
  return changes.every((change, i) => change?.revision === i + 1) && changes.at(-1)?.status === 'approved'
}

/**
 * The entries that made the keys behind an approval: those of its voters and of its requester, and of each key that
 * made one of them over HTTP. Undefined when one of them is archived.
 */
export async function approvalKeys(store: Store, approval: readonly StoredEntry[]): Promise<StoredEntry[] | undefined> {
  const record = Object.assign({}, ...approval.map((entry) => changeIn(entry)?.changes)) as Partial<Approval>
  const { votes = [], requestedByKey } = record
  if (requestedByKey === undefined) return []
  const made = new Map<string, { entry: StoredEntry; key: ApiKey }>()
  for (;;) {
    const next = neededKeys({ votes, requestedByKey }, made).find((id) => !made.has(id))
    if (next === undefined) return Array.from(made.values(), ({ entry }) => entry)
    // The first entry of a key is its creation, with all its members.
    const entry = (await store.changesOf('key', next)).find(({ header }) => header.type === 'key.created')
    if (entry === undefined) return undefined
    made.set(next, { entry, key: changeIn(entry)?.changes as unknown as ApiKey })
  }
}
