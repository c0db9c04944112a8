import { randomBytes } from 'node:crypto'
import { laneNumber } from '../../audit/chain.ts'
import type { Clock } from '../../base/time.ts'
import { forgetCounters } from './counters.ts'
import { type Database, first, statement } from './database.ts'
import { begin } from './transaction.ts'

/** Time after which the lane of a sidecar that is not heard of may be taken by another. */
const LEASE_MS = 10_000
const RENEWED_AFTER_MS = 2000
/** Difference between two clocks that is left alone. */
const CLOCK_MS = 5
const FORGOTTEN_AFTER_MS = 600_000

const END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`
const TAKE = statement(
  `UPDATE gate.sidecar SET token = token + 1, holder = $1, expires_at = ${END}
    WHERE lane = (SELECT lane FROM gate.sidecar WHERE expires_at <= clock_timestamp() ORDER BY lane LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING lane AS number, token`,
)
const ADD = statement(
  `INSERT INTO gate.sidecar (lane, token, holder, expires_at)
     SELECT coalesce(max(lane), 0) + 1, 1, $1, ${END} FROM gate.sidecar
   ON CONFLICT (lane) DO NOTHING RETURNING lane AS number, token`,
)
// The older holder has ended its writes by then, and later ones are refused.
const AWAIT_HOLDER = statement('SELECT FROM gate.chain WHERE lane = $1 ORDER BY number FOR UPDATE')
const RENEW = statement(
  `UPDATE gate.sidecar SET expires_at = ${END} WHERE lane = $1 AND token = $2
   RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
)
const HELD = statement('SELECT lane FROM gate.sidecar WHERE expires_at > clock_timestamp() ORDER BY lane')
const RELEASE = statement('UPDATE gate.sidecar SET expires_at = clock_timestamp() WHERE lane = $1 AND token = $2')

/** Number of the lanes to which this sidecar alone appends, and the token by which it is known. */
export interface Lane {
  number: number
  token: number
}

interface LeaseOptions {
  clock: Clock
  /** Called when the clock of the server is found to be so far ahead of the given one. */
  onClock(byMs: number): void
}

/** Takes a lane that nobody holds, or a new one. */
async function take(database: Database, holder: string): Promise<Lane> {
  const client = await database.connect()
  try {
    for (;;) {
      const transaction = begin(client)
      const { run } = transaction
      const lane = (await first(run.rows<Lane>(TAKE, [holder]))) ?? (await first(run.rows<Lane>(ADD, [holder])))
      if (lane !== undefined) await run.rows(AWAIT_HOLDER, [lane.number])
      await transaction.commit()
      // Another may have added the same number.
      if (lane !== undefined) return lane
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The lease of a lane, which the server keeps: another takes it when this sidecar is not heard of. */
export function laneLease(database: Database, { clock, onClock }: LeaseOptions) {
  const holder = randomBytes(10).toString('hex')
  let held: Promise<Lane> | undefined
  let forgottenMs = Number.NEGATIVE_INFINITY
  let renewedMs = Number.NEGATIVE_INFINITY
  /** The lanes that are held, as the server said last. */
  let live: readonly number[] = []
  let mine = 0
  /** Now and then, by the first of the sidecars. */
  const forget = async (): Promise<void> => {
    if (live[0] !== mine || performance.now() - forgottenMs < FORGOTTEN_AFTER_MS) return
    forgottenMs = performance.now()
    await forgetCounters(database.any)
  }
  const lost = (): void => {
    held = undefined
  }
  const lane = (): Promise<Lane> => {
    held ??= take(database, holder).then(
      (taken) => {
        mine = taken.number
        return taken
      },
      (error: unknown) => {
        lost()
        throw error
      },
    )
    return held
  }
  return {
    /** The lane of this sidecar, which takes one where it has none. */
    lane,
    /** Gives up a lane that another has taken. */
    lost,
    /** Tells the server, now and then, that this sidecar is there, and asks which others are. */
    async renew(): Promise<void> {
      if (performance.now() - renewedMs < RENEWED_AFTER_MS) return
      const { number, token } = await lane()
      renewedMs = performance.now()
      const askedMs = clock()
      const renewed = await first(database.any.rows<{ nowMs: number }>(RENEW, [number, token]))
      if (renewed === undefined) return lost()
      const answeredMs = clock()
      const aheadMs = renewed.nowMs - (askedMs + answeredMs) / 2
      // It was read at any time in between.
      if (Math.abs(aheadMs) > (answeredMs - askedMs) / 2 + CLOCK_MS) onClock(Math.round(aheadMs))
      await forget()
      live = (await database.any.rows<{ lane: number }>(HELD)).map((row) => row.lane)
    },
    /** True for the lanes of this sidecar; for the chains that no sidecar holds, only at the first of those that are there. */
    tends(chain: string): boolean {
      const number = laneNumber(chain)
      return number === mine || (!live.includes(number) && live[0] === mine)
    },
    /** Leaves the lane to the next sidecar. */
    async release(): Promise<void> {
      const lane = await held?.catch(() => undefined)
      if (lane !== undefined) await database.any.rows(RELEASE, [lane.number, lane.token])
    },
  }
}

export type LaneLease = ReturnType<typeof laneLease>
