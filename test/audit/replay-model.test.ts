import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rotateKey } from '../../src/actions/keys/rotate.ts'
import type { StoredEntry } from '../../src/audit/entry.ts'
import type { Told } from '../../src/audit/replay/place.ts'
import { replay } from '../../src/audit/replay/replay.ts'
import { GateError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { temporaryFolder } from '../helpers.ts'
import { LIVE, START_MS } from '../store/drafts.ts'
import { FULL } from '../tier.ts'
import { HOST } from './acting.ts'
import { type Opened, opened } from './replay-scene.ts'

/** What an agent, people and the clock do, drawn at random; what the service refuses changes nothing. */
type Step = (scene: Opened, who: Who, n: number) => Promise<unknown>
interface Who {
  bot: string
  voters: string[]
  operator: string
  held: string[]
}

const HOUR = 3_600_000
const STEPS: Readonly<Record<string, Step>> = {
  allow: ({ ask }, { bot }) => ask(bot, 'email.send', 0),
  hold: async ({ held }, who, n) => who.held.push(await held(who.bot, 'payment.transfer', n % 5)),
  holdPair: async ({ held }, who, n) => who.held.push(await held(who.bot, 'payment.refund', n % 5)),
  vote: (scene, who, n) => vote(scene, who, n),
  voteAgain: (scene, who, n) => vote(scene, who, n + 1),
  use: ({ ask }, { bot }, n) => ask(bot, 'payment.transfer', n % 5),
  usePair: ({ ask }, { bot }, n) => ask(bot, 'payment.refund', n % 5),
  reject: ({ reject }, { voters, held }, n) => reject(voters[0] ?? '', held[n % held.length] ?? '', 'ann'),
  stop: ({ stop }, { operator }, n) =>
    stop(operator, n % 2 === 0 ? { level: 'L3' } : { level: 'L2', scope: 'communication' }),
  recover: ({ recover }, { operator }) => recover(operator),
  rotate: async ({ deps }, who) => {
    who.bot = (await rotateKey(deps, { actor: HOST, caller: undefined }, who.bot, HOUR)).id
  },
  revoke: ({ revoke }, { voters }, n) => revoke(voters[1 + (n % 2)] ?? ''),
  later: async ({ time }, _, n) => {
    time.ms += (n % 14) * HOUR
  },
  earlier: async ({ time }, _, n) => {
    time.ms -= (n % 3) * HOUR
  },
}

const vote = ({ approve }: Opened, { voters, held }: Who, n: number) =>
  approve(voters[n % voters.length] ?? '', held[n % held.length] ?? '', ['ann', 'bob', 'cid'][n % 3] ?? '')

/** The trace of these steps, by the actions of the service. */
async function traceOf(steps: readonly (readonly [string, number])[]): Promise<StoredEntry[]> {
  const scene = await opened(temporaryFolder(), START_MS)
  const voter = (identity: string) => scene.key({ roles: ['approver'], identity })
  const who: Who = {
    bot: await scene.key({ roles: ['agent'], identity: 'bot' }),
    voters: [await voter('ann'), await voter('bob'), await voter('cid')],
    operator: await scene.key({ roles: ['operator'] }),
    held: [],
  }
  for (const [name, n] of steps) {
    scene.time.ms += 1000
    try {
      await STEPS[name]?.(scene, who, n)
    } catch (error) {
      if (!(error instanceof GateError || error instanceof assert.AssertionError)) throw error
    }
  }
  const entries = await scene.trail.store.entriesFrom(LIVE, 0, 100_000)
  await scene.trail.close()
  return entries
}

const START = { chain: LIVE, knows: { own: true, others: true }, records: [], elsewhere: [] }

function rulesBrokenBy(entries: readonly StoredEntry[]): string[] {
  const { step, finish } = replay(START)
  return [...entries.flatMap((entry, seq) => step(toldBy(entry, seq))), ...finish(true)].map(({ rule }) => rule)
}

function toldBy({ header, sections }: StoredEntry, seq: number): Told {
  const found = new Map(sections.map(({ name, json }) => [name, JSON.parse(json) as JsonObject]))
  return {
    header: { ...header, seq },
    section: (name) => found.get(name),
    has: (name) => found.has(name),
    sections: Object.keys(header.commits),
  }
}

const typeOf = ({ header }: StoredEntry): string => header.type
const isOf = (type: string) => (entry: StoredEntry) => typeOf(entry) === type
const without = (entries: StoredEntry[], gone: (entry: StoredEntry) => boolean): StoredEntry[] | undefined =>
  entries.some(gone) ? entries.filter((entry) => !gone(entry)) : undefined

/** Entries taken out of a trace, or put in again: what is left was not done by the rules. Undefined where there is none. */
const MUTATIONS: Readonly<Record<string, (entries: StoredEntry[]) => StoredEntry[] | undefined>> = {
  'no key of an agent that asked': (entries) =>
    entries.some(isOf('gate.decision'))
      ? without(entries, (entry) => entry === entries.find(isOf('key.created')))
      : undefined,
  'no request for an approval that was voted for': (entries) =>
    entries.some(isOf('approval.approved')) ? without(entries, isOf('approval.requested')) : undefined,
  'no votes for what was used': (entries) =>
    entries.some(isOf('approval.consumed')) ? without(entries, isOf('approval.approved')) : undefined,
  'no entry that uses an approval up': (entries) => without(entries, isOf('approval.consumed')),
  'no decision that used it': (entries) => {
    const at = entries.findIndex(isOf('approval.consumed'))
    return at === -1 ? undefined : entries.toSpliced(at - 1, 1)
  },
  'a use twice': (entries) => {
    const at = entries.findIndex(isOf('approval.consumed'))
    return at === -1 ? undefined : entries.toSpliced(at + 1, 0, ...entries.slice(at - 1, at + 1))
  },
  'a vote twice': (entries) => {
    const at = entries.findIndex(isOf('approval.approved'))
    return at === -1 ? undefined : entries.toSpliced(at + 1, 0, ...entries.slice(at, at + 1))
  },
  'an end of a stop that was not triggered': (entries) =>
    entries.some(isOf('killswitch.recovered')) ? without(entries, isOf('killswitch.triggered')) : undefined,
  'a stop that comes again': (entries) => {
    const at = entries.findIndex(isOf('killswitch.triggered'))
    return at === -1 ? undefined : [...entries, ...entries.slice(at, at + 1)]
  },
  'no end of the old secret': (entries) => without(entries, isOf('key.rotated')),
  'no new secret': (entries) => {
    const at = entries.findIndex(isOf('key.rotated'))
    return at === -1 ? undefined : entries.toSpliced(at + 1, 1)
  },
}

const steps = fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat({ max: 30 })), {
  minLength: 15,
  maxLength: 40,
  size: 'max',
})

/** A trace that every mutation applies to; drawn ones only rarely have a use. */
const EVERYTHING: [string, number][] = [
  ['hold', 1],
  ['vote', 0],
  ['use', 1],
  ['stop', 0],
  ['recover', 0],
  ['rotate', 0],
]

test('whatever the service does is lawful, and a trace out of which something is taken is not', async () => {
  const tried = new Set<string>()
  const property = fc.asyncProperty(steps, async (drawn) => {
    const entries = await traceOf(drawn)
    assert.deepEqual(rulesBrokenBy(entries), [])
    for (const [name, mutate] of Object.entries(MUTATIONS)) {
      const mutated = mutate(entries)
      if (mutated === undefined) continue
      tried.add(name)
      assert.notDeepEqual(rulesBrokenBy(mutated), [], name)
    }
  })
  await fc.assert(property, { numRuns: FULL ? 200 : 25, examples: [[EVERYTHING]], endOnFailure: true })
  assert.deepEqual(
    Object.keys(MUTATIONS).filter((name) => !tried.has(name)),
    [],
  )
})
