import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Actor, EntryDraft } from '../../audit/draft.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { signStatement } from '../../evidence/signature.ts'
import { change, creation, isInUse, type SigningKey } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Guard, Write } from '../../store/submission.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import {
  ensureLogKey,
  type KeyFile,
  keyInUse,
  logKeyRecord,
  sealKeyFrom,
  tested,
  WrongSigningKey,
} from './signing-keys.ts'

/**
 * The old key stays valid this long after a rotation is requested, so that what it signs meanwhile lies before its end.
 */
const ROTATION_MS = 2000

/**
 * Rotates the log key; both keys sign the succession. Signatures of the old key stay valid.
 *
 * @returns the records of both
 */
export async function rotateLogKey(
  deps: Deps,
  file: KeyFile,
  actor: Actor,
): Promise<{ from: SigningKey; to: SigningKey }> {
  const old = await ensureLogKey(deps, file)
  const from = keyInUse(deps.store)
  if (from === undefined || from.id !== old.id) throw new WrongSigningKey('Another process rotated the log key.')
  const next = tested(file.createNext())
  // Not before what the old key has signed, though a clock was set back since.
  const atMs = Math.max(deps.clock() + ROTATION_MS, Date.parse(from.createdAt), await newestMs(deps.store))
  const at = formatTimestamp(atMs)
  const statement = { origin: deps.store.origin, from: old.publicKey, to: next.publicKey, at }
  const signatures = {
    from: signStatement('rotation', statement, old.privateKey),
    to: signStatement('rotation', statement, next.privateKey),
  }
  const retired = change('signingKey', from, { retiredAt: at })
  const made = creation('signingKey', logKeyRecord(deps, next, { statement, signatures }))
  const writes: Write[] = [retired.write, made.write, { kind: 'reseal', key: sealKeyFrom(next.privateKey) }]
  const entries: EntryDraft[] = [
    eventEntry(deps, SYSTEM_CHAIN, 'key.rotated', retired.data, actor),
    eventEntry(deps, SYSTEM_CHAIN, 'key.created', made.data, actor),
  ]
  const guards: Guard[] = [
    { kind: 'logKeyInUse', id: from.id },
    { kind: 'before', untilMs: atMs },
  ]
  const { conflict } = await deps.store.commit({ guards, writes, entries })
  if (conflict !== null) {
    file.removeNext(next.id)
    if (conflict === 'before') throw new GateError('overloaded', 'The rotation took too long; try again.')
    throw new WrongSigningKey('Another process rotated the log key.')
  }
  file.promoteNext(next.id)
  return { from: retired.record, to: made.record }
}

/** The time of the newest entry of any chain. */
async function newestMs(store: Store): Promise<number> {
  const lengths = await store.lengths(await store.chains())
  const newest = await Promise.all(Array.from(lengths, ([chain, length]) => store.entryAt(chain, length - 1)))
  return Math.max(0, ...newest.map((entry) => Date.parse(entry?.header.ts ?? '') || 0))
}

/**
 * Records a key as compromised since a time.
 *
 * @throws GateError `not_found`; `invalid_request` for the log key in use, which has to be rotated first
 */
export function revokeSigningKey(deps: Deps, id: string, since: string, actor: Actor): Promise<SigningKey> {
  return decideAndCommit(deps.store, async () => {
    const key = deps.store.state().signingKeys.get(id)
    if (key === undefined) throw new GateError('not_found', `There is no signing key ${id}.`)
    if (isInUse(key)) throw new GateError('invalid_request', 'This log key is in use; rotate it first.')
    const revoked = change('signingKey', key, { revokedAt: since })
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'key.revoked', revoked.data, actor)
    return {
      submission: { guards: [], writes: [revoked.write], entries: [entry] },
      reply: () => revoked.record,
    }
  })
}
