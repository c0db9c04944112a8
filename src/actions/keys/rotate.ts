import { randomBytes } from 'node:crypto'
import { type Static, Type } from '#typebox'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import { TenantIdField } from '../../gate/request.ts'
import { type ApiKey, formatSecret, hashSecret, isActive, lineOf, SECRET_BYTES } from '../../keys/apikey.ts'
import { change, creation } from '../../store/records.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { chainOfKey, type KeyMaker, keyView, makerGuards, managedKey } from './keys.ts'

/** The old and the new secret of a key work side by side at most this long. */
export const MAX_OVERLAP_MS = 30 * DAY_MS
/** And this long when nothing is said. */
export const DEFAULT_OVERLAP_MS = DAY_MS

const MINUTE_MS = 60_000

/** Body of POST /keys/:id/rotate. */
export const RotateKeyRequest = Type.Object(
  {
    tenantId: TenantIdField,
    overlapMinutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_MS / MINUTE_MS,
        description: `How long the old secret still works, at most 30 days; 0 ends it now. ${DEFAULT_OVERLAP_MS / MINUTE_MS} (a day) if not given.`,
      }),
    ),
  },
  { additionalProperties: false, title: 'RotateKeyRequest' },
)

export function overlapMsOf({ overlapMinutes }: Static<typeof RotateKeyRequest>): number {
  return overlapMinutes === undefined ? DEFAULT_OVERLAP_MS : overlapMinutes * MINUTE_MS
}

/**
 * Replaces a key by a new one of the same holder, rights and end, and ends the old one after the overlap: 0 at once,
 * never later than it would have ended. The holder stays the same to approvals, but who had the secret made over HTTP knows it:
 * to them, the new key is one that this other one made. The new secret is in the reply and nowhere else.
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

/** A key that was replaced has its successor to be rotated: of two successors, one would be nobody's. */
function assertRotatable(key: ApiKey, nowMs: number): void {
  if (key.replacedBy !== undefined)
    throw new GateError('not_found', `Key ${key.id} has been rotated already; rotate its successor ${key.replacedBy}.`)
  if (isActive(key, nowMs)) return
  const how = key.revokedAt === null ? 'has expired' : 'has been revoked'
  throw new GateError('not_found', `Key ${key.id} ${how}, and a key that has ended is not rotated; make a new one.`)
}

/** A key that rotates itself hands its secret to nobody else, and what the host does it gives to whom it means. */
function rotatedByOther({ caller }: KeyMaker, old: ApiKey): Pick<ApiKey, 'rotatedBy'> {
  return caller === undefined || lineOf(caller.key) === lineOf(old) ? {} : { rotatedBy: caller.key.id }
}
