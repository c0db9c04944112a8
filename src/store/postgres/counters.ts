import { setTimeout as sleep } from 'node:timers/promises'
import { tenantOf } from '../../audit/chain.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import type { HeldCounter } from '../group.ts'
import type { TrailTaken, TrailTakenQuery } from '../queries.ts'
import type { PreparedSubmission } from '../submission.ts'
import type { ChainPlaces } from './chains.ts'
import { type Runner, statement } from './database.ts'
import { escaped } from './entry-columns.ts'

/** Age of a floor after which it tells nothing: every clock is past it. */
const KEPT_MS = 86_400_000
/** Time for which a decision has its counters to itself; it takes a few milliseconds. */
const RESERVED_MS = 500
/** Time limit of the wait for the reservations of others, and the pause between two looks. */
const RESERVE_LIMIT_MS = 2000
const RESERVE_PAUSE_MS = 5
/** Counters that are known to have a row. */
const KNOWN = 10_000

const FLOORS = statement('SELECT name, floor FROM gate.counter WHERE name = ANY($1)')
const MAKE = statement(
  'INSERT INTO gate.counter (name, floor) SELECT name, 0 FROM unnest($1::text[]) AS made (name) ON CONFLICT (name) DO NOTHING',
)
// Nothing waits for a counter with the lane in its hand: a decision that does not get it is made again.
const HOLD = statement(
  `SELECT name, floor, CASE WHEN reserved_until > clock_timestamp() THEN reservation END AS reservation
     FROM gate.counter WHERE name = ANY($1) ORDER BY name FOR UPDATE SKIP LOCKED`,
)
const USED = statement(`UPDATE gate.counter SET floor = $2, reserved_until = '-infinity' WHERE name = ANY($1)`)
const RESERVE = statement(
  `WITH free AS (SELECT name FROM gate.counter
       WHERE name = ANY($1) AND reserved_until <= clock_timestamp() ORDER BY name FOR UPDATE)
     UPDATE gate.counter AS c SET reservation = $2, reserved_until = clock_timestamp() + interval '${RESERVED_MS} milliseconds'
       FROM free WHERE c.name = free.name AND (SELECT count(*) FROM free) = $3 RETURNING c.name`,
)
const FORGET = statement(
  `DELETE FROM gate.counter WHERE name IN (
     SELECT name FROM gate.counter WHERE floor < extract(epoch FROM clock_timestamp()) * 1000 - ${KEPT_MS}
       ORDER BY name LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
)

interface FloorRow {
  name: string
  floor: number
}

interface HeldRow extends FloorRow {
  reservation: string | null
}

function counted(rows: readonly FloorRow[]): Map<string, number> {
  return new Map(rows.map(({ name, floor }) => [name, floor]))
}

/** Times of the newest decisions for which the counters were held, in ms; absent where there was none. */
export async function floorsOf(run: Runner, counters: readonly string[]): Promise<Map<string, number>> {
  const floors = counted(await run.rows<FloorRow>(FLOORS, [counters]))
  for (const [name, floor] of floors) if (floor === 0) floors.delete(name)
  return floors
}

/** Counters that a writer holds for decisions that are counted, or count. */
export function counterHolds() {
  const known = boundedCache<true>(KNOWN)
  return {
    /** Makes the rows of counters that nobody used yet, apart from any transaction. */
    async make(run: Runner, submissions: readonly PreparedSubmission[]): Promise<void> {
      const missing = countersOf(submissions).filter((name) => known.get(name) === undefined)
      if (missing.length === 0) return
      await run.rows(MAKE, [missing])
      for (const name of missing) known.put(name, true)
    },
    /** Holds the counters until the end of the transaction, as far as nobody else does; undefined for none. */
    async hold(run: Runner, submissions: readonly PreparedSubmission[]): Promise<Map<string, HeldCounter> | undefined> {
      const names = countersOf(submissions)
      if (names.length === 0) return undefined
      const held = new Map<string, HeldCounter>()
      for (const { name, floor, reservation } of await run.rows<HeldRow>(HOLD, [names]))
        held.set(name, { floorMs: floor, reservation, isUsed: false })
      // Its row may have been forgotten.
      for (const name of names) if (!held.has(name)) known.forget(name)
      return held
    },
  }
}

/**
 * Keeps other decisions from using the counters, for a moment.
 *
 * @param reservation a name that nobody else uses
 */
export async function reserveCounters(run: Runner, counters: readonly string[], reservation: string): Promise<void> {
  const sinceMs = performance.now()
  await run.rows(MAKE, [counters])
  while (performance.now() - sinceMs < RESERVE_LIMIT_MS) {
    const reserved = await run.rows(RESERVE, [counters, reservation, counters.length])
    if (reserved.length === counters.length) return
    await sleep(Math.random() * RESERVE_PAUSE_MS)
  }
}

/** The first submissions, of one tenant if any is counted: counters move the time, and none moves it for another tenant. */
export function sharingTime(submissions: readonly PreparedSubmission[]): readonly PreparedSubmission[] {
  if (!submissions.some(({ guards }) => guards.some(({ kind }) => kind === 'counters'))) return submissions
  const tenants = submissions.map(({ entries: [first] }) => first && tenantOf(first.chain))
  const end = tenants.findIndex((tenant) => tenant !== tenants[0])
  return end === -1 ? submissions : submissions.slice(0, end)
}

/** Time of a group: behind the floors of its counters, and behind what its decisions have read. */
export function timeBehind(
  nowMs: number,
  submissions: readonly PreparedSubmission[],
  counters: ReadonlyMap<string, HeldCounter> | undefined,
): number {
  const floors = Array.from(counters?.values() ?? [], ({ floorMs }) => floorMs + 1)
  const ends = submissions.flatMap(({ guards }) =>
    guards.flatMap((guard) => (guard.kind === 'counters' ? [guard.endMs] : [])),
  )
  return Math.max(nowMs, ...floors, ...ends)
}

/** Moves the floors of the counters that a group used to the time of its newest entry. */
export function raiseFloors(run: Runner, counters: ReadonlyMap<string, HeldCounter>, floorMs: number): void {
  const used = [...counters].flatMap(([name, { isUsed }]) => (isUsed ? [name] : []))
  if (used.length > 0) run.send(USED, [used, floorMs])
}

/** Forgets counters that nobody used for long. */
export async function forgetCounters(run: Runner): Promise<void> {
  await run.rows(FORGET)
}

function countersOf(submissions: readonly PreparedSubmission[]): string[] {
  const names = submissions.flatMap(({ guards }) =>
    guards.flatMap((guard) => (guard.kind === 'counters' ? guard.of.map(({ counter }) => counter) : [])),
  )
  return [...new Set(names)].sort()
}

// From the first entry of each lane that is not before the window, by the indexes of what was allowed.
const takenBy = (who: string) =>
  statement(
    `SELECT e.seq, e.action, e.ts AS "tsMs", e.at, e.chain AS number
       FROM unnest($1::integer[]) AS lane (number)
       CROSS JOIN LATERAL (SELECT at FROM gate.audit_entry
         WHERE chain = lane.number AND ts >= $2 ORDER BY chain, ts, at LIMIT 1) AS first
       CROSS JOIN LATERAL (SELECT seq, action, ts, at, chain FROM gate.audit_entry
         WHERE taken AND chain = lane.number AND at >= first.at AND ts < $3 AND (ts, at) > ($4, $5) ${who}
         ORDER BY at LIMIT $6) AS e
      ORDER BY e.ts, e.at LIMIT $6`,
  )
const TAKEN = takenBy('')
const BY_AGENT = takenBy('AND agent = $7')
const BY_SESSION = takenBy('AND agent = $7 AND session = $8')

interface TakenRow extends Omit<TrailTaken, 'chain'> {
  at: number
  number: number
}

/** Allowed actions of all lanes of a trail, by time. */
export async function takenInTrail(
  run: Runner,
  places: ChainPlaces,
  { trail, agent, session, fromMs, toMs, after, limit }: TrailTakenQuery,
): Promise<TrailTaken[]> {
  const lanes = await places.lanes(trail)
  const numbers = new Map(await Promise.all(lanes.map(async (lane) => [await places.number(lane), lane] as const)))
  const behind = after === undefined ? [-1, -1] : [after.tsMs, await places.at(after.chain, after.seq)]
  const window = [[...numbers.keys()], after?.tsMs ?? fromMs, toMs, ...behind, limit]
  const rows = await (agent === null
    ? run.rows<TakenRow>(TAKEN, window)
    : session === null
      ? run.rows<TakenRow>(BY_AGENT, [...window, escaped(agent)])
      : run.rows<TakenRow>(BY_SESSION, [...window, escaped(agent), escaped(session)]))
  return rows.map(({ seq, action, tsMs, number }) => ({ seq, action, tsMs, chain: numbers.get(number) ?? trail }))
}
