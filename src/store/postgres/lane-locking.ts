import { type Head, isLane, laneOf, SYSTEM_CHAIN } from '../../audit/chain.ts'
import { mayStandInLane } from '../../audit/replay/rules.ts'
import { digitsOf } from '../../base/digest.ts'
import type { PreparedSubmission, Submission } from '../submission.ts'
import { type LockedChain, lockChains, type Numbers } from './chains.ts'
import { isDatabaseError, type Runner, statement } from './database.ts'
import type { Lane, LaneLease } from './lease.ts'
import { chainsOf, type Locking } from './writer.ts'

const LOCK_LANES = statement('SELECT gate.lock_lanes($1, $2, $3, $4, $5, $6)')
/** Codes of the functions in the schema. */
const LANE_LOST = 'GS001'
const NOT_AS_KNOWN = 'GS002'

/** True for what changes no record, and refers to nothing but the lanes: it needs no lock that sidecars share. */
export function belongsInLane({ writes, entries }: Submission): boolean {
  if (entries.length === 0 || writes.some(({ kind }) => kind !== 'idempotency')) return false
  return entries.every(
    (entry) =>
      entry.chain !== SYSTEM_CHAIN &&
      !isLane(entry.chain) &&
      (entry.kind === 'decision' ? entry.grounds.approvalId === null : mayStandInLane(entry.type)),
  )
}

interface LaneLocking {
  lease: LaneLease
  numbers: Numbers
  /** Newest entries that this process has written, of the chains of the submissions. */
  known(submissions: readonly PreparedSubmission[]): ReadonlyMap<string, Head>
}

/**
 * Locks of the lanes of this sidecar. No other appends to them but a command that erases or prunes, so they are as this
 * sidecar left them, and the group is written without waiting for the server; a look at them corrects it.
 */
export function laneLocking({ lease, numbers, known }: LaneLocking): Locking {
  let ends = new Map<string, { length: number; digits: string }>()
  const lock = async (run: Runner, lane: Lane, chains: readonly string[], version: number) => {
    const expected = chains.flatMap((name): LockedChain[] => {
      const [end, number] = [ends.get(name), numbers.get(name)]
      return end === undefined || number === undefined ? [] : [{ name, number, ...end, state: version }]
    })
    const isExpected = expected.length === chains.length
    const locked = isExpected ? expected : await lockChains(run, { chains })
    lockLanes(run, lane, isExpected ? expected : [], version)
    return locked
  }
  return {
    async placed(request) {
      const lane = await lease.lane()
      const submissions = request.submissions.map((submission) => inLane(submission, lane.number))
      return {
        request: { ...request, submissions, known: known(submissions) },
        lock: (run) => lock(run, lane, chainsOf(submissions), request.memory.version),
      }
    },
    written(heads) {
      for (const [chain, { seq, hash }] of heads) ends.set(chain, { length: seq + 1, digits: digitsOf(hash) })
    },
    isOutdated(error) {
      const code = isDatabaseError(error) ? error.code : undefined
      if (code === LANE_LOST) lease.lost()
      if (code !== LANE_LOST && code !== NOT_AS_KNOWN) return false
      ends = new Map()
      return true
    },
  }
}

function inLane(submission: PreparedSubmission, number: number): PreparedSubmission {
  return {
    ...submission,
    entries: submission.entries.map((entry) => ({ ...entry, chain: laneOf(entry.chain, number) })),
  }
}

/** Locks lanes, which fails when they are not as they are expected, or when the lane is another's. */
function lockLanes(run: Runner, { number, token }: Lane, expected: readonly LockedChain[], state: number): void {
  const of = <K extends keyof LockedChain>(member: K) => expected.map((chain) => chain[member])
  run.send(LOCK_LANES, [number, token, of('name'), of('length'), of('digits'), state])
}
