import { randomBytes } from 'node:crypto'
import { beyondLimits, IDEMPOTENCY_MS } from '../retention.ts'
import type { IdempotencyUse, KeyUse, StoredPolicies } from '../submission.ts'
import { first, type Runner, statement } from './database.ts'

const FIND = statement(
  `SELECT key_id AS "keyId", route, value, body_digest AS "bodyDigest", entry_id AS "entryId", at AS "atMs"
     FROM gate.idempotency WHERE key_id = $1 AND route = $2 AND value = $3`,
)
const PUT = statement(
  `INSERT INTO gate.idempotency (key_id, route, value, body_digest, entry_id, at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (key_id, route, value)
   DO UPDATE SET body_digest = excluded.body_digest, entry_id = excluded.entry_id, at = excluded.at`,
)
const FORGET = statement('DELETE FROM gate.idempotency WHERE at < $1')

/** Statements over idempotency. Only commit.ts writes, inside its transaction. */
export function idempotencyQueries(run: Runner) {
  return {
    async find(keyId: string, route: string, value: string, nowMs: number): Promise<IdempotencyUse | undefined> {
      const use = await first(run.rows<IdempotencyUse>(FIND, [keyId, route, value]))
      return use === undefined || use.atMs < nowMs - IDEMPOTENCY_MS ? undefined : use
    },
    put({ keyId, route, value, bodyDigest, entryId, atMs }: IdempotencyUse): void {
      run.send(FORGET, [atMs - IDEMPOTENCY_MS])
      run.send(PUT, [keyId, route, value, bodyDigest, entryId, atMs])
    },
  }
}

const PUT_TRIAL = statement(
  `INSERT INTO gate.trial (one, at, filler) VALUES (1, $1, $2)
   ON CONFLICT (one) DO UPDATE SET at = excluded.at, filler = excluded.filler`,
)

/** Statements over trial. Only commit.ts writes, inside its transaction. */
export function trialQueries(run: Runner) {
  // Random bytes, since a file system that compresses needs no room for zeros.
  return { put: (at: string, bytes: number) => run.send(PUT_TRIAL, [at, randomBytes(bytes)]) }
}

const USES = statement('SELECT key_id AS "keyId", at FROM gate.key_use WHERE key_id = ANY($1)')
// Several services may use one database, and write in any order.
const PUT_USE = statement(
  `INSERT INTO gate.key_use AS known (key_id, at) VALUES ($1, $2)
   ON CONFLICT (key_id) DO UPDATE SET at = excluded.at WHERE excluded.at > known.at`,
)

/** Statements over key_use. Only commit.ts writes, inside its transaction. */
export function keyUseQueries(run: Runner) {
  return {
    of: async (keyIds: readonly string[]) =>
      new Map((await run.rows<KeyUse>(USES, [keyIds])).map(({ keyId, at }) => [keyId, at])),
    put(uses: readonly KeyUse[]): void {
      // In one order, in which no two sidecars wait for each other.
      for (const { keyId, at } of [...uses].sort((a, b) => (a.keyId < b.keyId ? -1 : 1))) run.send(PUT_USE, [keyId, at])
    },
  }
}

const SOURCE = statement('SELECT source FROM gate.policy_text WHERE tenant = $1 AND digest = $2')
const PUT_SOURCE = statement(
  `INSERT INTO gate.policy_text (tenant, digest, loaded, bytes, source)
   VALUES ($1, $2, (SELECT coalesce(max(loaded), 0) + 1 FROM gate.policy_text WHERE tenant = $1), $3, $4)
   ON CONFLICT (tenant, digest) DO UPDATE SET loaded = excluded.loaded, bytes = excluded.bytes, source = excluded.source`,
)
const RETAINED = statement('SELECT digest, bytes FROM gate.policy_text WHERE tenant = $1 ORDER BY loaded DESC')
const REMOVE_SOURCE = statement('DELETE FROM gate.policy_text WHERE tenant = $1 AND digest = $2')

/** Statements over policy_text. Only commit.ts writes, inside its transaction. */
export function policySourceQueries(run: Runner) {
  return {
    get: async (tenantId: string, digest: string) =>
      (await first(run.rows<{ source: string }>(SOURCE, [tenantId, digest])))?.source,
    async put({ tenantId, digest, source }: StoredPolicies): Promise<void> {
      run.send(PUT_SOURCE, [tenantId, digest, Buffer.byteLength(source), source])
      const sets = await run.rows<{ digest: string; bytes: number }>(RETAINED, [tenantId])
      for (const set of beyondLimits(sets)) run.send(REMOVE_SOURCE, [tenantId, set.digest])
    },
  }
}
