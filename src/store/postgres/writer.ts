import type pg from 'pg'
import { type Head, tenantOf } from '../../audit/chain.ts'
import type { Group } from '../group.ts'
import type { Memory } from '../memory.ts'
import { randomPool } from '../random-pool.ts'
import { runLater } from '../steps.ts'
import type { PreparedSubmission, Write } from '../submission.ts'
import {
  applyAll,
  groupOf,
  OtherSealKey,
  sealKeysOf,
  type WriteReply,
  type WriteRequest,
  type Writer,
  type Written,
} from '../writer.ts'
import {
  type Extent,
  type LockedChain,
  lockChains,
  lockRecords,
  makeChains,
  type Numbers,
  putHead,
  requireState,
} from './chains.ts'
import { counterHolds, raiseFloors, sharingTime, timeBehind } from './counters.ts'
import { type Database, type Runner, statement } from './database.ts'
import { isBusy } from './errors.ts'
import { refreshedIn } from './refreshed.ts'
import { type SharedTexts, sharedTexts } from './shared-text.ts'
import { tablesOn } from './tables.ts'
import { begin, type Transaction } from './transaction.ts'

// In one order, so that no two wait for each other.
const LOCK_EVENTS = statement(
  `SELECT pg_advisory_xact_lock(event)
     FROM (SELECT DISTINCT hashtextextended(name, 0) AS event FROM unnest($1::text[]) AS of (name) ORDER BY event) AS ordered`,
)

/** Attempts of a group whose locks were not what was expected. */
const ATTEMPTS = 3

export interface WriterOptions {
  origin: string
  numbers: Numbers
  /** Time by which a chain may be ahead of the clock without an entry about it. */
  slackMs: number
}

/** How a writer comes to the chains to which it appends, and to their locks. */
export interface Locking {
  placed(request: WriteRequest): Promise<Placed>
  /** Takes in the ends that a commit left. */
  written(heads: ReadonlyMap<string, Head>): void
  /** True for an error that says that the locks are not what was expected: the group is tried again. */
  isOutdated(error: unknown): boolean
}

interface Placed {
  /** The request with its entries in the chains to which they are appended. */
  request: WriteRequest
  /** Locks the chains of the request, before anything else is locked. May answer before the server has. */
  lock(run: Runner): Promise<readonly LockedChain[]>
}

/** Commits groups of submissions, each in one transaction, on a connection of its own. */
export function serverWriter(database: Database, options: WriterOptions, locking: Locking = SHARED): Writer {
  const texts = sharedTexts()
  const random = randomPool()
  const holds = counterHolds()
  let client: Promise<pg.Client> | undefined
  const discard = async (): Promise<void> => {
    const closing = client
    client = undefined
    const opened = await closing?.catch(() => undefined)
    // A connection that broke cannot say goodbye.
    await opened?.end().catch(() => undefined)
  }
  const attempt = async (request: WriteRequest, isLast: boolean): Promise<WriteReply | 'again'> => {
    let transaction: Transaction | undefined
    try {
      const placed = await locking.placed(request)
      const { submissions } = placed.request
      await makeChains(database.any, chainsOf(submissions), options.numbers)
      await holds.make(database.any, submissions)
      client ??= database.connect()
      transaction = begin(await client)
      const reply = await written(database, { ...options, transaction, texts, random, holds }, placed)
      locking.written(reply.heads)
      return reply
    } catch (error) {
      const isOutdated = locking.isOutdated(error)
      // Once the end was sent, it may have arrived, unless the server refused the locks: a proxy sends other errors too.
      const unknown = transaction?.isOpen() === false && !isOutdated && !isBusy(error)
      const isUsable = transaction === undefined ? isBusy(error) : !unknown && (await isRolledBack(transaction))
      if (!isUsable) await discard()
      texts.forget()
      if (isOutdated && !isLast) return 'again'
      return isUsable && isPassing(error) ? { kind: 'busy' } : { kind: 'failed', cause: String(error), unknown }
    }
  }
  return {
    hasThread: true,
    async write(request): Promise<WriteReply> {
      for (let left = ATTEMPTS; ; left -= 1) {
        const reply = await attempt(request, left <= 1)
        if (reply !== 'again') return reply
      }
    },
    close: discard,
  }
}

/** Whether the same group may succeed once the records were read again. */
function isPassing(error: unknown): boolean {
  return isBusy(error) || error instanceof OtherSealKey
}

interface Writing extends WriterOptions, Pick<Group, 'random'> {
  transaction: Transaction
  holds: ReturnType<typeof counterHolds>
  texts: SharedTexts
}

/** Writes a group, and ends its transaction. @throws the error of the database */
async function written(
  database: Database,
  { origin, numbers, slackMs, transaction, texts, random, holds }: Writing,
  { request, lock }: Placed,
): Promise<Written> {
  const beganMs = performance.now()
  const { run } = transaction
  const submissions = sharingTime(request.submissions)
  lockEvents(run, submissions)
  const counters = await holds.hold(run, submissions)
  const held = await lock(run)
  for (const { name, number } of held) numbers.set(name, number)
  const locked = new Map(held.map((chain) => [chain.name, chain]))
  const tables = tablesOn(run, numbers, { transaction, texts, locked })
  const fresh = await freshMemory(database, request, { origin, numbers }, held)
  const nowMs = timeBehind(request.nowMs, submissions, counters)
  const group = groupOf({ ...request, nowMs }, { origin, random, tables, memory: fresh, slackMs, counters })
  const results = await runLater(applyAll(group, submissions))
  const { memory, regressed, heads } = group
  if (group.seal === undefined) for (const [chain, head] of heads) putHead(run, chain, head)
  if (counters !== undefined) raiseFloors(run, counters, Math.max(nowMs, ...Array.from(heads.values(), tsOf)))
  if (touches(submissions) !== undefined) requireState(run, memory.version, [...locked.keys()])
  await transaction.commit()
  const tookMs = performance.now() - beganMs
  return { kind: 'written', results, stateVersion: memory.version, tookMs, regressed, heads }
}

function tsOf({ tsMs }: Head): number {
  return tsMs
}

/** Lets no other lane commit beside this one what happens once: the outcome of a decision, and the use of a key. */
function lockEvents(run: Runner, submissions: readonly PreparedSubmission[]): void {
  const events = submissions.flatMap(({ guards }) =>
    guards.flatMap((guard) => {
      if (guard.kind === 'noOutcome') return [`outcome ${guard.decisionId}`]
      return guard.kind === 'idempotency' ? [`${guard.keyId} ${guard.route} ${guard.value}`] : []
    }),
  )
  if (events.length > 0) run.send(LOCK_EVENTS, [events])
}

async function isRolledBack(transaction: Transaction): Promise<boolean> {
  try {
    await transaction.rollback()
    return true
  } catch {
    return false
  }
}

/** Locks of the chains that sidecars share: the server's answer says how long they are. */
const SHARED: Locking = {
  placed: async (request) => ({ request, lock: (run) => lockShared(run, request) }),
  written: () => undefined,
  isOutdated: () => false,
}

function lockShared(run: Runner, { submissions }: WriteRequest): Promise<readonly LockedChain[]> {
  const touched = touches(submissions)
  if (touched !== undefined || changesRecords(submissions)) lockRecords(run)
  return lockChains(run, touched ?? { chains: chainsOf(submissions) })
}

export function chainsOf(submissions: readonly PreparedSubmission[]): string[] {
  return [...new Set(submissions.flatMap(({ entries }) => entries.map(({ chain }) => chain)))]
}

/** True for a change of that by which entries of a tenant, or of every chain, are decided or sealed. */
function isDecisive(write: Write): boolean {
  if (write.kind === 'signingKey') return write.record.purpose === 'log'
  return write.kind === 'key' || write.kind === 'switch' || write.kind === 'reseal'
}

/**
 * The chains beside their own that must wait for these submissions: where they change by whom or what entries are
 * decided, and where all are sealed anew. Undefined where none must.
 */
function touches(submissions: readonly PreparedSubmission[]): Extent | undefined {
  const touching = submissions.filter(({ writes }) => writes.some(isDecisive))
  if (touching.length === 0) return undefined
  const tenants = chainsOf(touching).map(tenantOf)
  const isReseal = touching.some(({ writes }) => writes.some(({ kind }) => kind === 'reseal'))
  if (isReseal || tenants.length === 0 || tenants.includes('')) return 'all'
  return { chains: chainsOf(submissions), tenants }
}

/** The records by which entries of the locked chains are decided. */
async function freshMemory(
  database: Database,
  request: WriteRequest,
  { origin, numbers }: Pick<WriterOptions, 'origin' | 'numbers'>,
  held: readonly LockedChain[],
): Promise<Memory> {
  const { memory, submissions } = request
  if (!changesRecords(submissions) && held.every(({ state }) => state <= memory.version)) return memory
  return database.snapshot((run) => refreshedIn(run, numbers, memory, { origin, sealKeys: sealKeysOf(request) }))
}

const RECORDS = { tenant: true, key: true, signingKey: true, policy: true, switch: true }

function changesRecords(submissions: readonly PreparedSubmission[]): boolean {
  return submissions.some(({ writes }) => writes.some(({ kind }) => kind in RECORDS))
}
