import { randomBytes } from 'node:crypto'
import { laneNumber } from '../../audit/chain.ts'
import type { Clock } from '../../base/time.ts'
import { oneLine } from '../../base/visible.ts'
import { type About, MAX_NAME } from '../fleet.ts'
import { forgetCounters } from './counters.ts'
import { type Database, first, statement } from './database.ts'
import { fleetOn } from './fleet.ts'
import { begin } from './transaction.ts'

/** Time after which the lane of a sidecar that is not heard of may be taken by another. */
const LEASE_MS = 10_000
const RENEWED_AFTER_MS = 2000
/** Difference between two clocks that is left alone. */
const CLOCK_MS = 5
const FORGOTTEN_AFTER_MS = 600_000
/** Characters of a name that are looked at. */
const MAX_READ = 1000

const END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`
const STARTED = 'to_timestamp($4::float8 / 1000)'
const TAKE = statement(
  `UPDATE gate.sidecar SET token = token + 1, holder = $1, expires_at = ${END}, heard_at = clock_timestamp(),
      name = $2, version = $3, started_at = ${STARTED}, policies = '{}', tenant = gate.own_tenant(), signs = $5
    WHERE lane = (SELECT lane FROM gate.sidecar WHERE tenant = gate.own_tenant() AND expires_at <= clock_timestamp()
        ORDER BY lane LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING lane AS number, token`,
)
// The first number that is free: a row of another may have any.
const ADD = statement(
  `INSERT INTO gate.sidecar (lane, token, holder, expires_at, name, version, started_at, tenant, signs)
     SELECT min(lane), 1, $1, ${END}, $2, $3, ${STARTED}, gate.own_tenant(), $5
       FROM generate_series(1, (SELECT count(*)::integer + 1 FROM gate.sidecar)) AS free (lane)
      WHERE NOT EXISTS (SELECT FROM gate.sidecar AS s WHERE s.lane = free.lane)
   ON CONFLICT (lane) DO NOTHING RETURNING lane AS number, token`,
)
// The older holder has ended its writes by then, and later ones are refused.
const AWAIT_HOLDER = statement('SELECT FROM gate.chain WHERE lane = $1 ORDER BY number FOR UPDATE')
const RENEW = statement(
  `UPDATE gate.sidecar SET expires_at = ${END}, heard_at = clock_timestamp(), policies = coalesce($3::jsonb, policies)
    WHERE lane = $1 AND token = $2
   RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
)
const HELD = statement(
  'SELECT lane, tenant, signs FROM gate.sidecar WHERE expires_at > clock_timestamp() ORDER BY lane',
)
const RELEASE = statement('UPDATE gate.sidecar SET expires_at = clock_timestamp() WHERE lane = $1 AND token = $2')

/** Number of the lanes to which this sidecar alone appends, and the token by which it is known. */
export interface Lane {
  number: number
  token: number
}

/** A lane that is held, with the tenant that its holder serves; empty for all. */
interface HeldLane {
  lane: number
  tenant: string
  signs: boolean
}

interface LeaseOptions {
  clock: Clock
  /** The only tenant that this sidecar serves; undefined for all. */
  tenant: string | undefined
  signs: boolean
  about: About
  /** Called when the clock of the server is found to be so far ahead of the given one. */
  onClock(byMs: number): void
}

/** Takes a lane that nobody holds, or a new one. */
async function take(database: Database, holder: string, { about, signs }: LeaseOptions): Promise<Lane> {
  const values = [holder, storable(about.name), storable(about.version), about.startedMs, signs]
  const client = await database.connect()
  try {
    for (;;) {
      const transaction = begin(client)
      const { run } = transaction
      const lane = (await first(run.rows<Lane>(TAKE, values))) ?? (await first(run.rows<Lane>(ADD, values)))
      if (lane !== undefined) await run.rows(AWAIT_HOLDER, [lane.number])
      await transaction.commit()
      // Another may have added the same number.
      if (lane !== undefined) return lane
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** One line of characters that everyone sees, which a server takes. */
function storable(text: string): string {
  return oneLine(text.slice(0, MAX_READ).toWellFormed(), MAX_NAME)
}

/** Policies in force here, of which the row of the lane is told when they change. */
function policyNews() {
  let policies = '{}'
  /** Content of the row, as the holder of this lane told it. */
  let told: { lane: Lane | undefined; policies: string } = { lane: undefined, policies }
  return {
    tell(digests: ReadonlyMap<string, string>): void {
      policies = JSON.stringify(Object.fromEntries([...digests].sort()))
    },
    /** Policies that the row does not have yet; null for none. */
    since(lane: Lane): { news: string | null; passedOn: () => void } {
      const telling = { lane, policies }
      const isTold = told.lane === lane && told.policies === policies
      const passedOn = (): void => {
        told = telling
      }
      return { news: isTold ? null : policies, passedOn }
    },
  }
}

/** The lanes that are held, as the server said last. @param tenant the only one that is served here; undefined for all */
function heldLanes(database: Database, tenant: string | undefined) {
  let held: readonly HeldLane[] = []
  let forgottenMs = Number.NEGATIVE_INFINITY
  // A login of one tenant writes nothing of `_system`, where signatures are recorded.
  const signers = (): HeldLane[] => held.filter((one) => one.signs && one.tenant === '')
  return {
    async ask(): Promise<void> {
      held = await database.any.rows<HeldLane>(HELD)
    },
    /** Forgets counters now and then, at the first of the sidecars that serve the same. */
    async forget(mine: number): Promise<void> {
      const first = held.find((one) => one.tenant === (tenant ?? ''))
      if (first?.lane !== mine || performance.now() - forgottenMs < FORGOTTEN_AFTER_MS) return
      forgottenMs = performance.now()
      await forgetCounters(database.any)
    },
    /** The lane of the sidecar that signs a chain: that of the chain, if its holder signs, or the first of those that do. */
    signerOf(chain: string): number | undefined {
      const number = laneNumber(chain)
      return (signers().find(({ lane }) => lane === number) ?? signers()[0])?.lane
    },
    /** Number of the sidecars that serve the tenant, at least this one; without one, of all. */
    count: (of?: string) => Math.max(1, held.filter((one) => of === undefined || serves(one, of)).length),
    signers: () => signers().length,
  }
}

/** The lease of a lane, which the server keeps: another takes it when this sidecar is not heard of. */
export function laneLease(database: Database, options: LeaseOptions) {
  const { clock, tenant, onClock } = options
  const holder = randomBytes(10).toString('hex')
  let own: Promise<Lane> | undefined
  let renewedMs = Number.NEGATIVE_INFINITY
  const held = heldLanes(database, tenant)
  let mine = 0
  const policies = policyNews()
  const lost = (): void => {
    own = undefined
  }
  const lane = (): Promise<Lane> => {
    own ??= take(database, holder, options).then(
      (taken) => {
        mine = taken.number
        return taken
      },
      (error: unknown) => {
        lost()
        throw error
      },
    )
    return own
  }
  return {
    /** The lane of this sidecar, which takes one where it has none. */
    lane,
    /** Gives up a lane that another has taken. */
    lost,
    /** Tells the server, now and then, that this sidecar is there, and asks which others are. */
    async renew(): Promise<void> {
      if (performance.now() - renewedMs < RENEWED_AFTER_MS) return
      const taken = await lane()
      renewedMs = performance.now()
      const askedMs = clock()
      const { news, passedOn } = policies.since(taken)
      const renewed = await first(database.any.rows<{ nowMs: number }>(RENEW, [taken.number, taken.token, news]))
      if (renewed === undefined) return lost()
      passedOn()
      const answeredMs = clock()
      const aheadMs = renewed.nowMs - (askedMs + answeredMs) / 2
      // It was read at any time in between.
      if (Math.abs(aheadMs) > (answeredMs - askedMs) / 2 + CLOCK_MS) onClock(Math.round(aheadMs))
      await held.forget(mine)
      await held.ask()
    },
    /** True for the chains that this sidecar signs. */
    signs: (chain: string): boolean => held.signerOf(chain) === mine,
    fleet: fleetOn(database, { holder, live: held.count, signers: held.signers, tell: policies.tell }),
    /** Leaves the lane to the next sidecar. */
    async release(): Promise<void> {
      const lane = await own?.catch(() => undefined)
      if (lane !== undefined) await database.any.rows(RELEASE, [lane.number, lane.token])
    },
  }
}

function serves({ tenant }: HeldLane, of: string): boolean {
  return tenant === '' || tenant === of
}

export type LaneLease = ReturnType<typeof laneLease>
