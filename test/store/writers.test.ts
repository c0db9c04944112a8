import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { prepareEntry } from '../../src/audit/draft.ts'
import { parseGlob } from '../../src/base/glob.ts'
import type { Json } from '../../src/base/json.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { packed, unpacked } from '../../src/store/sqlite/packed.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import {
  type MakeWriter,
  type ThreadRequest,
  writeHere,
  writeInThread,
  writeWhereBetter,
} from '../../src/store/sqlite/writers.ts'
import type { Store } from '../../src/store/store.ts'
import type { Submission } from '../../src/store/submission.ts'
import type { WriteReply, WriteRequest, Writer } from '../../src/store/writer.ts'
import { temporaryFolder } from '../helpers.ts'
import { FULL } from '../tier.ts'
import { HANGS_MS } from '../until.ts'
import { storeContract } from './contract.ts'
import { aDecision, agentOf, aStop, commit, creating, enrolment, LIVE, note, only, START_MS } from './drafts.ts'

if (FULL)
  storeContract(
    () => temporaryFolder(),
    (dir, clock) => openStore({ dir, create: true, clock, makeWriter: writeInThread() }),
  )

function opened(t: TestContext, makeWriter: MakeWriter, dir = temporaryFolder()): Store {
  const store = openStore({ dir, create: true, clock: Date.now, makeWriter })
  t.after(() => store.close())
  return store
}

/** The threads that were sent something, each time. */
function posts(t: TestContext, sent: ThreadRequest[] = []): Worker[] {
  const seen: Worker[] = []
  const { postMessage } = Worker.prototype
  t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, value: ThreadRequest) {
    seen.push(this)
    sent.push(value)
    postMessage.call(this, value)
  })
  return seen
}

const subject = { chain: LIVE, action: 'payment.transfer', domain: undefined }
const allowing = () => ({ ...only(note()), guards: [{ kind: 'notStopped', subject } as const] })

test('a thread that is lost loses what it was writing, says so, and the next one goes on', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeInThread())
  await commit(store, only(note()))
  // Long enough to be under way still when the thread ends.
  const large = 'x'.repeat(30_000)
  const written = Array.from({ length: 100 }, () => store.commit(only(note(large))))
  await turn()
  await threads[0]?.terminate()
  const codes = (await Promise.allSettled(written)).map((one) =>
    one.status === 'rejected' ? one.reason.code : 'written',
  )
  const lost = codes.filter((code) => code === 'audit_unavailable').length
  assert.ok(lost > 0)
  assert.equal(codes.filter((code) => code === 'written').length, 100 - lost)
  await commit(store, only(note()))
  assert.notEqual(threads.at(-1), threads[0])
  // A commit whose answer was lost may be on disk.
  const found = (await store.entriesFrom(LIVE, 1, 1000)).length
  assert.ok(found >= 2 + 100 - lost && found <= 2 + 100, `${found} entries, ${lost} lost`)
})

test('what cannot be sent to the thread is refused, and the next submission is not', async (t) => {
  const store = opened(t, writeInThread())
  const unsendable = { ...only(note()), guards: [{ kind: 'keyActive', keyId: 1n as never } as const] }
  await assert.rejects(store.commit(unsendable), { code: 'audit_unavailable' })
  await commit(store, only(note()))
})

test('an allow that was being written when a stop came into force is not answered; what else was, is', async (t) => {
  // Answers late, so that the stop comes between the write and its answer. One group, however busy the machine is.
  shiftedClock(t)
  const late = through(writeHere, async (request, next) => {
    const reply = await next(request)
    await sleep(50)
    return reply
  })
  const store = opened(t, late)
  await commit(store, { ...allowing(), entries: [aDecision('allow')] })
  const allow = store.commit({ ...allowing(), entries: [aDecision('allow')] })
  const vote = store.commit(allowing())
  await turn()
  store.impose(aStop())
  assert.equal((await allow).conflict, 'notStopped')
  assert.equal((await vote).conflict, null)
  assert.equal((await store.commit(allowing())).conflict, 'notStopped')
  assert.equal((await store.entriesFrom(LIVE, 1, 10)).length, 3, 'the second allow is in the chain all the same')
})

test('what a group changed is in memory before anybody is answered', async (t) => {
  const store = opened(t, writeInThread())
  const stop = aStop()
  const [, { conflict }] = await Promise.all([commit(store, creating('switch', stop)), store.commit(allowing())])
  assert.equal(conflict, 'notStopped')
  assert.deepEqual(
    store.state().switches.map(({ id }) => id),
    [stop.id],
  )
})

/** A clock that stands still unless it is set forward, or comes later by a step at each look. */
function shiftedClock(t: TestContext): { nowMs: number; stepMs: number } {
  const clock = { nowMs: 0, stepMs: 0 }
  t.mock.method(performance, 'now', () => {
    clock.nowMs += clock.stepMs
    return clock.nowMs
  })
  return clock
}

/** Writer whose writes go through a function. */
function through(
  makeWriter: MakeWriter,
  write: (request: WriteRequest, next: Writer['write']) => ReturnType<Writer['write']>,
): MakeWriter {
  return (address, file) => {
    const writer = makeWriter(address, file)
    return { ...writer, write: (request) => write(request, writer.write) }
  }
}

/** Writer whose every write takes no time, however busy the machine is. */
const quick = (makeWriter: MakeWriter): MakeWriter => through(makeWriter, withoutTime)

/** The same of writes in the thread alone. */
const quickThread = (makeWriter: MakeWriter): MakeWriter =>
  through(makeWriter, (request, next) => (request.isThreadBetter ? withoutTime(request, next) : next(request)))

async function withoutTime(request: WriteRequest, next: Writer['write']): Promise<WriteReply> {
  const reply = await next(request)
  return reply.kind === 'written' ? { ...reply, tookMs: 0 } : reply
}

test('what is quick is written here, what is slow in the thread until it is quick again', async (t) => {
  const threads = posts(t)
  const store = opened(t, quickThread(writeWhereBetter))
  const clock = shiftedClock(t)
  const write = () => commit(store, only(note()))
  await write()
  assert.equal(threads.length, 0)
  clock.stepMs = 30
  await write()
  assert.equal(threads.length, 0)
  await write()
  assert.equal(threads.length, 1)
  clock.stepMs = 0
  for (let i = 0; i < 100; i += 1) await write()
  assert.ok(threads.length > 1 && threads.length < 90, `${threads.length} of 100 quick writes in the thread`)
  assert.equal((await store.entriesFrom(LIVE, 1, 1000)).length, 103)
})

test('large groups are written in the thread, until they are small again', async (t) => {
  const threads = posts(t)
  const store = opened(t, quickThread(writeWhereBetter))
  shiftedClock(t)
  const write = (count: number) => Promise.all(Array.from({ length: count }, () => commit(store, only(note()))))
  await write(20)
  assert.equal(threads.length, 0, 'one large group is none yet')
  for (let i = 0; i < 10; i += 1) await write(20)
  const large = threads.length
  assert.ok(large > 5, `${large} of 10 in the thread`)
  for (let i = 0; i < 50; i += 1) await write(1)
  assert.ok(threads.length < large + 20, `${threads.length - large} of 50 small ones in the thread`)
  assert.equal((await store.entriesFrom(LIVE, 1, 1000)).length, 270)
})

test('a full group is written while others come, and the rest after it', async (t) => {
  const sent: ThreadRequest[] = []
  posts(t, sent)
  const store = opened(t, quick(writeInThread()))
  const burst = (size: number): Promise<unknown>[] => Array.from({ length: size }, () => commit(store, only(note())))
  // Enough large groups for the average.
  for (let i = 0; i < 20; i += 1) await Promise.all(burst(8))
  sent.length = 0
  const written = burst(50)
  // Before the turn ends.
  assert.deepEqual(sent.map(sizeOf), [16])
  await Promise.all(written)
  // On a busy machine the second group ends early, and the rest follows.
  const [first, second = 0] = sent.map(sizeOf)
  assert.deepEqual([first, second >= 34], [16, true])
})

test('a stop waits for what is being written alone, and is written here while the disk is quick', async (t) => {
  const sent: ThreadRequest[] = []
  posts(t, sent)
  const store = opened(t, quick(writeWhereBetter))
  shiftedClock(t)
  const burst = (size: number): Promise<unknown>[] => Array.from({ length: size }, () => commit(store, only(note())))
  for (let i = 0; i < 20; i += 1) await Promise.all(burst(20))
  const before = await lengthOf(store, LIVE)
  sent.length = 0
  const others = burst(20)
  let written = 0
  for (const other of others) void other.then(() => (written += 1))
  await commit(store, creating('switch', aStop()))
  // On a busy machine the first group ends early.
  const first = written
  assert.ok(first > 0 && first <= 16, String(first))
  await Promise.all(others)
  const types = await store.headersFrom(LIVE, before, 100)
  const stop = types.findIndex((header) => header.includes('killswitch.triggered'))
  assert.deepEqual([types.length, stop], [21, first])
  const inThread = sent.flatMap(({ submissions }) => unpacked(submissions)).filter(({ writes }) => writes.length > 0)
  assert.equal(inThread.length, 0)
})

test('a stop that nothing is written before is written at once', async (t) => {
  const store = opened(t, writeWhereBetter)
  const stop = aStop()
  const waiting = [commit(store, only(note())), commit(store, creating('switch', stop))]
  // Before the turn ends.
  assert.deepEqual(
    store.state().switches.map(({ id }) => id),
    [stop.id],
  )
  await Promise.all(waiting)
})

test('stops of one turn share a commit, after the first', async (t) => {
  const groups: number[] = []
  const writer = through(writeHere, (request, next) => {
    groups.push(request.submissions.length)
    return next(request)
  })
  const store = opened(t, writer)
  await Promise.all(Array.from({ length: 20 }, () => commit(store, creating('switch', aStop()))))
  // On a busy machine a group ends early, and the rest follows.
  assert.deepEqual(groups.slice(0, 2), [1, 19])
})

test('stops that follow each other do not keep others from being written, on a slow disk', async (t) => {
  const slow = through(writeHere, async (request, next) => {
    await sleep(5)
    return next(request)
  })
  const store = opened(t, slow)
  let isOver = false
  const stopping = [1, 2].map(async () => {
    for (let i = 0; i < 100 && !isOver; i += 1) await commit(store, creating('switch', aStop()))
    return isOver
  })
  await commit(store, only(note()))
  isOver = true
  assert.deepEqual(await Promise.all(stopping), [true, true])
})

test('what was overtaken is made anew before others that wait, though the thread could have them', async (t) => {
  const store = opened(t, quick(writeInThread()))
  await commit(store, { guards: [], writes: [], entries: [aDecision('allow')] })
  const counting = (since: number): Submission => {
    const of = [{ agent: null, session: null, actions: [parseGlob('payment.*') ?? assert.fail()] }]
    return { ...only(note()), guards: [{ kind: 'noNewAllows', chain: LIVE, since, of }] }
  }
  const overtaken = store.commit(counting(0))
  await turn()
  // It is being written.
  const others = [1, 2, 3].map(() => commit(store, only(note())))
  assert.equal((await overtaken).conflict, 'noNewAllows')
  const anew = await store.commit(counting(2))
  await Promise.all(others)
  const length = await lengthOf(store, LIVE)
  assert.equal(anew.conflict === null && anew.entries[0]?.seq, length - 4)
})

test('a stop that hangs tells of the disk as any other write', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeWhereBetter)
  const clock = shiftedClock(t)
  clock.stepMs = 300
  await commit(store, creating('switch', aStop()))
  clock.stepMs = 0
  assert.equal(threads.length, 0)
  await commit(store, only(note()))
  assert.equal(threads.length, 1)
})

const sizeOf = ({ submissions }: ThreadRequest): number => unpacked(submissions).length

test('submissions come out of the thread as they went in, whatever their texts and writes', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed())
  const data = fc.jsonValue().map((value) => value as Json)
  const guard = text.map((keyId) => ({ kind: 'keyActive', keyId }) as const)
  const entry = fc.oneof(
    fc.tuple(data, text).map(([value, type]) => note(value, { type: `custom.${type}` })),
    fc.constantFrom('allow', 'deny').map((decision) => aDecision(decision as 'allow' | 'deny')),
  )
  const write = text.map((at) => ({ kind: 'trial', at, bytes: 1 }) as const)
  const entries = fc.array(entry).map((drafts) => drafts.map(prepareEntry))
  const members = { guards: fc.array(guard), writes: fc.array(write, { maxLength: 2 }), entries }
  const submission = fc.record(members, { noNullPrototype: true })
  fc.assert(
    fc.property(fc.array(submission, { maxLength: 5 }), (submissions) => {
      assert.deepEqual(unpacked(structuredClone(packed(submissions))), submissions)
    }),
  )
})

test('after a disk has hung, the thread writes for a minute, however quick it is', async (t) => {
  const threads = posts(t)
  const store = opened(t, quickThread(writeWhereBetter))
  const clock = shiftedClock(t)
  clock.stepMs = 300
  await commit(store, only(note()))
  clock.stepMs = 0
  for (let i = 0; i < 100; i += 1) await commit(store, only(note()))
  assert.equal(threads.length, 100)
  clock.nowMs += 61_000
  await commit(store, only(note()))
  assert.equal(threads.length, 100)
})

test('a lock that another process holds says nothing of the disk', async (t) => {
  const threads = posts(t)
  const dir = temporaryFolder()
  const store = opened(t, writeWhereBetter, dir)
  const clock = shiftedClock(t)
  clock.stepMs = 30
  await commit(store, only(note()))
  clock.stepMs = 0
  const holder = openDatabase(dir, { create: false })
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const written = commit(store, only(note()))
  // Were each of these quick answers counted, the thread would be left after some ten.
  for (let i = 0; i < HANGS_MS / 10 && threads.length <= 20; i += 1) await sleep(10)
  assert.ok(threads.length > 20, 'the lock is asked for again and again, in the thread')
  const answers: string[] = []
  threads.at(-1)?.on('message', ({ kind }: WriteReply) => answers.push(kind))
  holder.exec('COMMIT')
  await written
  assert.equal(answers.at(-1), 'written', 'and so is the write')
})

/** Writers of both kinds, of which `there` chooses. */
function either(there: () => boolean): MakeWriter {
  return (address, file) => {
    const writers = [writeHere(address, file), writeInThread()(address, file)] as const
    return {
      hasThread: true,
      write: (request) => writers[there() ? 1 : 0].write(request),
      close: async () => void (await Promise.all(writers.map((writer) => writer.close()))),
    }
  }
}

test('the thread is sent each record that it does not have, once', async (t) => {
  const sent: ThreadRequest[] = []
  posts(t, sent)
  let there = true
  const store = opened(
    t,
    either(() => there),
  )
  await commit(store, enrolment())
  await commit(store, only(note()))
  const stops = [aStop(), aStop({ level: 'L1', scope: 'a', patterns: ['a'] })] as const
  for (const stop of stops) {
    there = false
    await commit(store, creating('switch', stop))
    there = true
    assert.equal((await store.commit(allowing())).conflict, 'notStopped')
  }
  await commit(store, only(note()))
  const ids = sent.map(
    ({ changes }) => changes && Object.values(changes.changed).flatMap((all) => all.map(({ id }) => id)),
  )
  assert.deepEqual(ids, [[], [agentOf(LIVE).id], [stops[0].id], [stops[1].id], undefined])
})

test('a large write is told while it lasts, a small one is not', async (t) => {
  const store = opened(t, writeInThread())
  for (const [length, isTold] of [
    [1, false],
    [500_000, true],
  ] as const) {
    const written = commit(store, only(note('x'.repeat(length))))
    await turn()
    const told = store.largeWrite()
    assert.equal(told !== undefined, isTold)
    await told
    await written
    assert.equal(store.largeWrite(), undefined)
  }
})

test('a regression of the clock is noted once each time, whoever writes', async (t) => {
  const dir = temporaryFolder()
  let nowMs = START_MS
  let there = false
  const store = openStore({ dir, create: true, clock: () => nowMs, makeWriter: either(() => there) })
  t.after(() => store.close())
  const at = async (ms: number, inThread: boolean): Promise<void> => {
    nowMs = START_MS + ms
    there = inThread
    await commit(store, only(note()))
  }
  await at(1000, false)
  await at(0, false)
  await at(1, true)
  await at(2000, true)
  await at(1500, false)
  const { total } = await store.page({ chain: LIVE, order: 'asc', limit: 9, offset: 0, eventType: 'clock.regression' })
  assert.equal(total, 2)
})

test('a slow write now and then, such as a checkpoint, is no slow disk', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeWhereBetter)
  const clock = shiftedClock(t)
  for (let i = 0; i < 40; i += 1) {
    const written = commit(store, only(note()))
    // Between the beginning of this write and its end.
    if (i % 10 === 5) setImmediate(() => (clock.nowMs += 20))
    await written
  }
  assert.equal(threads.length, 0)
})

test('a store that is closed writes no more, and its thread has ended', async (t) => {
  const threads = posts(t)
  const store = openStore({ dir: temporaryFolder(), create: true, clock: Date.now, makeWriter: writeInThread() })
  await commit(store, only(note()))
  await store.close()
  assert.equal(threads[0]?.threadId, -1)
  await assert.rejects(store.commit(only(note())), { code: 'audit_unavailable' })
})

test('the thread ends when idle, and the next write starts another', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeInThread(20))
  await commit(store, only(note()))
  const [first] = threads
  assert.ok(first)
  await once(first, 'exit')
  await commit(store, only(note()))
  assert.notEqual(threads.at(-1), first)
  assert.equal((await store.entriesFrom(LIVE, 1, 10)).length, 2)
})

test('the thread does not end while it writes, nor soon after its last write', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeInThread(10_000))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await commit(store, only(note()))
  t.mock.timers.tick(9000)
  const written = commit(store, only(note()))
  await turn()
  t.mock.timers.tick(20_000)
  await written
  t.mock.timers.tick(9000)
  await commit(store, only(note()))
  assert.equal(new Set(threads).size, 1)
})

test('no write is lost or doubled while threads end and start', async (t) => {
  const threads = posts(t)
  const store = opened(t, writeInThread(0))
  await commit(store, enrolment())
  for (let i = 0; i < 20; i += 1) {
    await Promise.all(Array.from({ length: (i % 3) + 1 }, () => commit(store, only(note()))))
    // The next write meets a thread that is idle, is ending or has ended.
    await sleep(i % 4)
  }
  assert.ok(new Set(threads).size > 5, `${new Set(threads).size} threads`)
  assert.equal((await store.entriesFrom(LIVE, 2, 1000)).length, 39)
  const request = {
    chain: LIVE,
    sections: true,
    logKeys: [],
    anchor: null,
    anchoredSize: 0,
    revoked: new Set<string>(),
  }
  assert.deepEqual((await store.verifyChain(request)).fault, null)
})

test('a store is closed when its ending thread has ended', async (t) => {
  const threads = posts(t)
  const store = openStore({ dir: temporaryFolder(), create: true, clock: Date.now, makeWriter: writeInThread(0) })
  await commit(store, only(note()))
  while (threads.length < 2) await turn()
  await store.close()
  assert.equal(threads[0]?.threadId, -1)
})

/** The writer of a disk whose syncs take this long, and the sizes of the groups that it wrote. */
function slowed(ms: number): { sizes: number[]; makeWriter: MakeWriter } {
  const sizes: number[] = []
  const makeWriter: MakeWriter = (address, file) => {
    const { write, close } = writeHere(address, file)
    return {
      hasThread: true,
      async write(request) {
        sizes.push(request.submissions.length)
        await sleep(ms)
        const reply = await write(request)
        return reply.kind === 'written' ? { ...reply, tookMs: reply.tookMs + ms } : reply
      },
      close,
    }
  }
  return { sizes, makeWriter }
}

test('on a slow disk, those who ask again and again share one group, not two that take turns', async (t) => {
  const { sizes, makeWriter } = slowed(40)
  const store = opened(t, makeWriter)
  const ask = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) {
      await commit(store, only(note()))
      // The way of the answer, and of the next request.
      await sleep(2)
    }
  }
  // Half of them ask while the others are being written.
  const early = Array.from({ length: 8 }, ask)
  await sleep(10)
  await Promise.all([...early, ...Array.from({ length: 8 }, ask)])
  assert.ok(sizes.filter((size) => size === 16).length > 15, `groups of ${sizes.join(', ')}`)
})

test('who is alone on a slow disk does not wait for company', async (t) => {
  const { sizes, makeWriter } = slowed(100)
  const store = opened(t, makeWriter)
  for (let i = 1; i <= 5; i += 1) {
    const written = commit(store, only(note()))
    // Waiting for others is waiting for a timer, which comes due no sooner than after a turn.
    await turn()
    assert.equal(sizes.length, i)
    await written
  }
})
