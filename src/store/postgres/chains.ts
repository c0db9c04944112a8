import { type Head, laneNames } from '../../audit/chain.ts'
import { type SealKey, sealOf } from '../../audit/seal.ts'
import { digestOfDigits, digitsOf } from '../../base/digest.ts'
import { placeOf } from '../places.ts'
import type { SeqRange } from '../queries.ts'
import type { SealRow } from '../source.ts'
import { first, type Runner, type Statement, statement } from './database.ts'
import { CHANNEL } from './listener.ts'

const NUMBER = statement('SELECT number FROM gate.chain WHERE name = $1')
const NAME = statement('SELECT name FROM gate.chain WHERE number = $1')
// Between two changes of the records, never beside one, which locks the chains that are there. In one order, so that no
// two wait for each other.
const MAKE = statement(
  `INSERT INTO gate.chain (name, state)
     SELECT made.name, i.state_version FROM gate.instance AS i, unnest($1::text[]) AS made (name)
      ORDER BY made.name FOR SHARE OF i
   ON CONFLICT (name) DO NOTHING`,
)
const LOCK_RECORDS = statement('SELECT state_version FROM gate.instance FOR UPDATE')
// By the index, also where rows are separated by tenant: EXISTS may read the table then.
const WITH_ENTRIES = `(SELECT at FROM gate.audit_entry
  WHERE at >= c.number::bigint << 33 AND at < (c.number::bigint + 1) << 33 ORDER BY at LIMIT 1) IS NOT NULL`
const NAMED = statement(`SELECT name FROM gate.chain AS c WHERE ${WITH_ENTRIES} ORDER BY name`)
const OF_TRAIL = statement(
  `SELECT name FROM gate.chain AS c
    WHERE (name = $1 OR (name > $2 AND name < $3)) AND ${WITH_ENTRIES} ORDER BY name`,
)
const locking = (which: string): Statement =>
  statement(
    `SELECT name, number, length, encode(hash, 'hex') AS digits, state FROM gate.chain ${which} ORDER BY number FOR UPDATE`,
  )
const LOCK = locking('WHERE name = ANY($1)')
const LOCK_TENANTS = locking('WHERE name = ANY($1) OR tenant = ANY($2)')
const LOCK_ALL = locking('')
const PUT_HEAD = statement(
  `UPDATE gate.chain SET length = $2, hash = decode($3, 'hex'), sealed_size = $4, seal_key = $5, seal = $6 WHERE name = $1`,
)
const SEAL = statement(
  'SELECT sealed_size AS size, seal_key AS key, seal AS mac FROM gate.chain WHERE name = $1 AND seal IS NOT NULL',
)
const SEALED = statement('SELECT name FROM gate.chain WHERE seal IS NOT NULL ORDER BY name')
const UNSEAL = statement('UPDATE gate.chain SET sealed_size = NULL, seal_key = NULL, seal = NULL WHERE name = $1')
const PRUNED = statement('SELECT pruned FROM gate.chain WHERE name = $1')
const DECIDED_BY = statement('UPDATE gate.chain SET state = $1 WHERE name = ANY($2)')
const TELL = statement(`NOTIFY ${CHANNEL}`)

/** A chain whose row is locked. */
export interface LockedChain {
  name: string
  number: number
  length: number
  /** Hash of the newest entry; null for none. */
  digits: string | null
  /** Version of the records by which entries must be decided. */
  state: number
}

/** Numbers of chains, which never change. Chains are made apart from the transactions that append to them. */
export type Numbers = Map<string, number>

/** Places of entries, by the numbers of their chains. */
export function chainPlaces(run: Runner, numbers: Numbers) {
  /** Number of a chain; 0, where nothing lies, for one that has none. */
  const number = async (chain: string): Promise<number> => {
    const known = numbers.get(chain) ?? (await first(run.rows<{ number: number }>(NUMBER, [chain])))?.number ?? 0
    if (known !== 0) numbers.set(chain, known)
    return known
  }
  return {
    number,
    name: async (ofNumber: number) => (await first(run.rows<{ name: string }>(NAME, [ofNumber])))?.name,
    at: async (chain: string, seq: number) => placeOf(await number(chain), seq),
    /** The places `from` <= at < `to`. */
    range: async (chain: string, { first: begin, end }: SeqRange): Promise<[from: number, to: number]> => {
      const of = await number(chain)
      return [placeOf(of, begin), placeOf(of, end)]
    },
    /** Chains that have entries. */
    chains: async () => (await run.rows<{ name: string }>(NAMED)).map(({ name }) => name),
    /** Chains of a trail that have entries. */
    lanes: async (trail: string) =>
      (await run.rows<{ name: string }>(OF_TRAIL, [trail, ...laneNames(trail)])).map(({ name }) => name),
  }
}

export type ChainPlaces = ReturnType<typeof chainPlaces>

/** Makes the chains that are not there yet. */
export async function makeChains(run: Runner, chains: readonly string[], numbers: Numbers): Promise<void> {
  const missing = chains.filter((chain) => !numbers.has(chain))
  if (missing.length > 0) await run.rows(MAKE, [missing])
}

/** Locks the version of the records, before any chain: nobody else changes a record, or makes a chain. */
export function lockRecords(run: Runner): void {
  run.send(LOCK_RECORDS)
}

/** Chains to lock: these, and those of these tenants, or all. */
export type Extent = 'all' | { chains: readonly string[]; tenants?: readonly string[] }

/** Locks the rows of chains, in the order that every sidecar follows. */
export function lockChains(run: Runner, extent: Extent): Promise<LockedChain[]> {
  if (extent === 'all') return run.rows<LockedChain>(LOCK_ALL)
  const { chains, tenants } = extent
  return tenants === undefined
    ? run.rows<LockedChain>(LOCK, [chains])
    : run.rows<LockedChain>(LOCK_TENANTS, [chains, tenants])
}

/** Requires later entries of these chains to be decided by this version of the records, and tells every sidecar. */
export function requireState(run: Runner, version: number, chains: readonly string[]): void {
  run.send(DECIDED_BY, [version, chains])
  run.send(TELL)
}

/** Writes the end of a chain. */
export function putHead(
  run: Runner,
  chain: string,
  { seq, hash }: Head,
  seal?: { key: SealKey; origin: string },
): void {
  const size = seq + 1
  const sealed = seal
    ? [size, seal.key.id, sealOf(seal.key, { origin: seal.origin, chain, size, hash })]
    : [null, null, null]
  run.send(PUT_HEAD, [chain, size, digitsOf(hash), ...sealed])
}

export function sealQueries(run: Runner) {
  return {
    get: (chain: string) => first(run.rows<SealRow>(SEAL, [chain])),
    put: (origin: string, key: SealKey, chain: string, head: Head) => putHead(run, chain, head, { key, origin }),
    chains: async () => (await run.rows<{ name: string }>(SEALED)).map(({ name }) => name),
    remove: (chain: string) => run.send(UNSEAL, [chain]),
  }
}

export async function prunedSize(run: Runner, chain: string): Promise<number> {
  return (await first(run.rows<{ pruned: number }>(PRUNED, [chain])))?.pruned ?? 0
}

/** True when this is the newest entry of a locked chain. */
export function isEnd({ length, digits }: LockedChain, { seq, hash }: Head): boolean {
  return length === seq + 1 && digits !== null && digestOfDigits(digits) === hash
}
