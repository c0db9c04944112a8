import type pg from 'pg'
import type { SealKey } from '../../audit/seal.ts'
import { GateError } from '../../base/errors.ts'
import type { Group } from '../group.ts'
import { type Memory, refreshed } from '../memory.ts'
import { randomPool } from '../random-pool.ts'
import { runLater } from '../steps.ts'
import type { SealKeys } from '../store.ts'
import type { PreparedSubmission } from '../submission.ts'
import { applyAll, groupOf, type WriteReply, type WriteRequest, type Writer } from '../writer.ts'
import { type LockedChain, lockChains, lockRecords, makeChains, type Numbers, putHead, requireState } from './chains.ts'
import type { Database } from './database.ts'
import { isBusy } from './errors.ts'
import { type SharedTexts, sharedTexts } from './shared-text.ts'
import { tablesOn } from './tables.ts'
import { begin, type Transaction } from './transaction.ts'

/** Records by which entries of every chain are decided. */
const DECIDED_BY = ['key', 'switch', 'signingKey']

interface WriterOptions {
  origin: string
  numbers: Numbers
}

/** Commits groups of submissions, each in one transaction, on a connection of its own. */
export function serverWriter(database: Database, options: WriterOptions): Writer {
  const texts = sharedTexts()
  const random = randomPool()
  let client: Promise<pg.Client> | undefined
  const discard = async (): Promise<void> => {
    const closing = client
    client = undefined
    const opened = await closing?.catch(() => undefined)
    // A connection that broke cannot say goodbye.
    await opened?.end().catch(() => undefined)
  }
  return {
    hasThread: true,
    async write(request): Promise<WriteReply> {
      let transaction: Transaction | undefined
      try {
        await makeChains(database.any, chainsOf(request.submissions), options.numbers)
        client ??= database.connect()
        transaction = begin(await client)
        return await written(database, { ...options, transaction, texts, random }, request)
      } catch (error) {
        // Once the end was sent, it may have arrived.
        const unknown = transaction?.isOpen() === false
        const isUsable = transaction !== undefined && !unknown && (await isRolledBack(transaction))
        if (!isUsable) await discard()
        texts.forget()
        return isUsable && isBusy(error) ? { kind: 'busy' } : { kind: 'failed', cause: String(error), unknown }
      }
    },
    close: discard,
  }
}

interface Writing extends WriterOptions, Pick<Group, 'random'> {
  transaction: Transaction
  texts: SharedTexts
}

/** Writes a group, and ends its transaction. @throws the error of the database */
async function written(
  database: Database,
  { origin, numbers, transaction, texts, random }: Writing,
  request: WriteRequest,
): Promise<WriteReply> {
  const beganMs = performance.now()
  const { run } = transaction
  const { submissions } = request
  if (touchesAll(submissions) || changesRecords(submissions)) lockRecords(run)
  const held = await lockChains(run, touchesAll(submissions) ? 'all' : chainsOf(submissions))
  for (const { name, number } of held) numbers.set(name, number)
  const locked = new Map(held.map((chain) => [chain.name, chain]))
  const tables = tablesOn(run, numbers, { transaction, texts, locked })
  const fresh = await freshMemory(database, request, { origin, numbers }, held)
  const group = groupOf(request, { origin, random, tables, memory: fresh })
  const results = await runLater(applyAll(group, submissions))
  const { memory, regressed, heads } = group
  if (group.seal === undefined) for (const [chain, head] of heads) putHead(run, chain, head)
  if (touchesAll(submissions)) requireState(run, memory.version, [...locked.keys()])
  await transaction.commit()
  const tookMs = performance.now() - beganMs
  return { kind: 'written', results, stateVersion: memory.version, tookMs, regressed, heads }
}

async function isRolledBack(transaction: Transaction): Promise<boolean> {
  try {
    await transaction.rollback()
    return true
  } catch {
    return false
  }
}

function chainsOf(submissions: readonly PreparedSubmission[]): string[] {
  return [...new Set(submissions.flatMap(({ entries }) => entries.map(({ chain }) => chain)))]
}

/** True where every chain must wait: what changes by whom or what entries are decided, and what seals all of them. */
function touchesAll(submissions: readonly PreparedSubmission[]): boolean {
  return submissions.some(({ writes }) => writes.some(({ kind }) => kind === 'reseal' || DECIDED_BY.includes(kind)))
}

/** The records by which entries of the locked chains are decided. */
async function freshMemory(
  database: Database,
  { memory, seal, submissions }: WriteRequest,
  { origin, numbers }: WriterOptions,
  held: readonly LockedChain[],
): Promise<Memory> {
  if (!changesRecords(submissions) && held.every(({ state }) => state <= memory.version)) return memory
  return database.snapshot((run) =>
    runLater(refreshed(memory, tablesOn(run, numbers), { origin, sealKeys: sealKeysOf(seal) })),
  )
}

const RECORDS = { tenant: true, key: true, signingKey: true, policy: true, switch: true }

function changesRecords(submissions: readonly PreparedSubmission[]): boolean {
  return submissions.some(({ writes }) => writes.some(({ kind }) => kind in RECORDS))
}

/** The key that came with the request. Rows may have been sealed with its successor since. */
function sealKeysOf(seal: SealKey | undefined): SealKeys | undefined {
  if (seal === undefined) return undefined
  return (id) => {
    if (id === seal.id) return seal
    throw new GateError('audit_unavailable', `The database is sealed with the log key ${id}.`)
  }
}
