import { randomBytes } from 'node:crypto'
import * as Type from '#typebox'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import { requestBody } from '../../gate/request.ts'
import { type ApiKey, chainOfKey, isActive, lineOf } from '../../keys/apikey.ts'
import { formatSecret, hashSecret, SECRET_BYTES } from '../../keys/secret.ts'
import { change, creation } from '../../store/records.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { type KeyMaker, keyView, makerGuards, managedKey } from './keys.ts'

/** Limit of the time during which the old and the new secret both work. */
export const MAX_OVERLAP_MS = 30 * DAY_MS
/** Overlap without another request. */
export const DEFAULT_OVERLAP_MS = DAY_MS

const MINUTE_MS = 60_000

export const RotateKeyRequest = requestBody('RotateKeyRequest', {
  overlapMinutes: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_MS / MINUTE_MS,
      description: `Minutes during which the old secret still works, at most 30 days; 0 ends it now. ${DEFAULT_OVERLAP_MS / MINUTE_MS} (a day) if not given.`,
    }),
  ),
})

export function overlapMsOf({ overlapMinutes }: Type.Static<typeof RotateKeyRequest>): number {
  return overlapMinutes === undefined ? DEFAULT_OVERLAP_MS : overlapMinutes * MINUTE_MS
}

/**
 * Replaces a key by a successor of the same holder, rights and expiry, and ends it after the overlap (0: at once),
 * never later than its expiry. Approvals treat both as one holder. Another key that rotates this one over HTTP knows
 * the new secret, so approvals treat it as the successor's maker. The secret appears in the reply and nowhere else.
 *
 * @throws GateError as `managedKey`, and `not_found` for a key that is not active, or has been replaced already
 */
export function rotateKey(deps: Deps, maker: KeyMaker, id: string, overlapMs: number) {
  return decideAndCommit(deps.store, async () => {
    const nowMs = deps.clock()
    const old = managedKey(deps, maker, id)
    assertRotatable(old, nowMs)
    const secret = formatSecret(old.environment, randomBytes(SECRET_BYTES))
    const successor = creation('key', {
      ...old,
      id: deps.newId('key'),
      revision: 1,
      hash: hashSecret(secret),
      createdAt: formatTimestamp(nowMs),
      rotatedFrom: lineOf(old),
      ...rotatedByOther(maker, old),
    })
    const endMs = Math.min(nowMs + overlapMs, old.expiresAt === null ? LAST_TIME_MS : Date.parse(old.expiresAt))
    const ending = change('key', old, { expiresAt: formatTimestamp(endMs), replacedBy: successor.record.id })
    const chain = chainOfKey(old)
    return {
      submission: {
        guards: makerGuards(maker),
        writes: [ending.write, successor.write],
        entries: [
          eventEntry(deps, chain, 'key.rotated', ending.data, maker.actor),
          eventEntry(deps, chain, 'key.created', successor.data, maker.actor),
        ],
      },
      reply: () => ({ ...keyView(successor.record), key: secret, replaces: keyView(ending.record) }),
    }
  })
}

/**
 * Refuses a second successor, which would leave one of the two without a holder: a replaced key's successor is rotated
 * instead.
 */
function assertRotatable(key: ApiKey, nowMs: number): void {
  if (key.replacedBy !== undefined)
    throw new GateError('not_found', `Key ${key.id} has been rotated already; rotate its successor ${key.replacedBy}.`)
  if (isActive(key, nowMs)) return
  const how = key.revokedAt === null ? 'has expired' : 'has been revoked'
  throw new GateError('not_found', `Key ${key.id} ${how}, and an ended key cannot be rotated; create a new one.`)
}

/** The other key that learned the new secret; none is added when a key rotates itself, or the host hands it over. */
function rotatedByOther({ caller }: KeyMaker, old: ApiKey): Pick<ApiKey, 'rotatedBy'> {
  return caller === undefined || lineOf(caller.key) === lineOf(old) ? {} : { rotatedBy: caller.key.id }
}
