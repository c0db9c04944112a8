import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import type { PolicySource } from '../../src/authoring/load/files.ts'
import { compilePolicySet } from '../../src/authoring/load/load.ts'
import { UNLIMITED } from '../../src/base/work.ts'
import { MODULE, threadedPolicyWorker } from '../../src/files/policy-worker.ts'
import { NO_TALLY } from '../../src/gate/history.ts'
import { draftVerdict } from '../../src/gate/verdict.ts'
import { linkPolicySet } from '../../src/policies/link.ts'
import { type Cut, cut, joined } from '../../src/workers/parts.ts'
import { answeringThreads } from '../../src/workers/thread.ts'
import { evaluateContext } from '../authoring/sets.ts'
import { HEADER } from '../authoring/sources.ts'
import { type Gate, startGate } from '../helpers.ts'
import { fullTest, runs } from '../tier.ts'
import { until } from '../until.ts'

/** All that a compiled set can hold: lists, schemas, named conditions, a `*` path, decorators, patterns, terms. */
const EVERYTHING = `${HEADER}
domains: {mail: ["email.*"]}
lists: {known: {file: lists/known.txt}, days: {values: [mon, tue]}}
facts: {context.to: {type: list}, context.amount: {type: number, default: 3}}
actions: {email.send: {context: {type: object, required: [to], properties: {to: {type: array}}}}}
conditions: {safe: {fact: "context.to.*.name", operator: everyFact:matches, value: "^[a-z]+$"}}
risk: [{name: n, actions: ["**"], weight: 9, scale: {fact: context.amount, from: 0, to: 9}}]
rules:
  - {id: a, actions: ["email.*"], effect: allow, reason: A., when: {all: [{condition: safe}, {not: {fact: agent, operator: inList, value: known}}]}}
  - {id: h, actions: ["email.*"], effect: require_approval, reason: H., approval: {quorum: 2, expiresIn: 5m}, when: {fact: time.weekday, operator: inList, value: days}}
`

function sourceOf(files: Record<string, string>, lists: Record<string, string> = {}): PolicySource {
  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
  return {
    tenant: 'acme',
    files: Object.entries(files).map(([name, text]) => ({ name, bytes: bytesOf(text) })),
    lists: new Map(Object.entries(lists).map(([path, text]) => [path, bytesOf(text)])),
    ignored: [],
  }
}

/** The largest kind of file that is slow to read: 4,500 rules in flow style. */
function largePolicy(reason: string): string {
  const rule = (_: unknown, i: number): string =>
    `  - {id: r${i}, actions: ["a${i % 500}.*"], effect: deny, reason: ${reason}, when: {all: [{fact: context.amount, operator: greaterThan, value: ${i}}, {fact: context.country, operator: in, value: [DE, FR, IT]}]}}`
  return `${HEADER}rules:\n${Array.from({ length: 4500 }, rule).join('\n')}\n`
}

test('what is compiled in a thread is what would be compiled here, and can be asked', async () => {
  const source = sourceOf({ 'main.yaml': EVERYTHING }, { 'lists/known.txt': 'eve\n' })
  const there = await threadedPolicyWorker().compile(source)
  const here = compilePolicySet(source)
  assert.ok('value' in there)
  assert.deepEqual(
    here.diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.equal(there.value.data?.digest, here.data?.digest)
  assert.deepEqual(structuredClone(here), there.value)
  assert.ok(there.value.data)
  const set = linkPolicySet(there.value.data)
  const { rules } = await evaluateContext(set, { to: [{ name: 'ann' }] }, 'email.send')
  assert.deepEqual(rules.map(({ rule, outcome }) => [rule.id, outcome]).slice(0, 1), [['a', 'true']])
  assert.match(set.validators('email.send')?.context?.({}, UNLIMITED) ?? '', /^context\.to is required$/)
})

test('what is asked in a thread of policies that are not in force is what would be decided here', async () => {
  const source = sourceOf(
    {
      'main.yaml': `${EVERYTHING}  - {id: often, actions: ["email.*"], effect: deny, reason: O., when: {fact: history.count.mails, operator: greaterThan, value: 2}}
history: {count: {mails: {actions: ["email.*"], within: 1h, by: agent}}}
`,
    },
    { 'lists/known.txt': 'eve\n' },
  )
  const { data } = compilePolicySet(source)
  assert.ok(data)
  const sent = { count: 2, total: NO_TALLY.total, missing: 0 }
  const asked = {
    killSwitchReason: undefined,
    tenant: 'acme',
    environment: 'live' as const,
    agent: 'bot',
    nowMs: Date.parse('2026-03-02T10:00:00Z'),
    action: 'email.send',
    context: { to: [{ name: 'ann' }] },
    plan: undefined,
    history: { tallies: new Map([['history.count.mails', sent]]), sessionActions: undefined },
  }
  const here = await draftVerdict({ data, asked })
  assert.deepEqual([here.decision, here.rule], ['deny', 'often'])
  assert.deepEqual(await threadedPolicyWorker().judge({ data, asked }), { value: here })
})

test('the lists that policies name are found in a thread', async () => {
  const { files } = sourceOf({ 'main.yaml': EVERYTHING })
  assert.deepEqual(await threadedPolicyWorker().listFiles(files), { value: ['lists/known.txt'] })
})

test('a thread that has answered takes the next work, and is ended when none comes', async (t) => {
  const ended: Promise<unknown>[] = []
  const count = (worker: Worker): number => ended.push(once(worker, 'exit'))
  process.on('worker', count)
  t.after(() => process.off('worker', count))
  // An idle thread keeps nothing from ending, not even this test.
  const running = setInterval(() => undefined, 1000)
  t.after(() => clearInterval(running))
  const policyWorker = threadedPolicyWorker()
  const { files } = sourceOf({ 'main.yaml': EVERYTHING })
  await policyWorker.listFiles(files)
  await policyWorker.listFiles(files)
  assert.equal(ended.length, 1)
  await Promise.all([policyWorker.listFiles(files), policyWorker.listFiles(files)])
  assert.equal(ended.length, 2)
  await Promise.all(ended)
  assert.deepEqual(await policyWorker.listFiles(files), { value: ['lists/known.txt'] })
  assert.equal(ended.length, 3)
})

const IS_ENDED: readonly [what: string, oldMb: number, signal: () => AbortSignal | undefined, cause: RegExp][] = [
  ['takes more memory than it may', 48, () => undefined, /memory limit/],
  ['is told to end', 512, () => AbortSignal.timeout(100), /timeout/],
]

for (const [what, maxOldGenerationSizeMb, signal, cause] of IS_ENDED) {
  test(`a thread that ${what} is ended, and the next work gets another`, async () => {
    const resourceLimits = { maxOldGenerationSizeMb }
    const ask = answeringThreads(MODULE, { idleMs: 1, resourceLimits })
    await assert.rejects(ask(['compile', sourceOf({ 'main.yaml': largePolicy('R.') })], signal()), cause)
    assert.deepEqual(await ask(['listFiles', sourceOf({ 'main.yaml': EVERYTHING }).files]), ['lists/known.txt'])
  })
}

fullTest('policies that take all time or memory end as a fault, in a thread that is ended', async () => {
  const files = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`p${i}.yaml`, largePolicy(`R${i}.`)]))
  const started = performance.now()
  const policyWorker = threadedPolicyWorker()
  const outcome = await policyWorker.compile(sourceOf(files))
  assert.ok('fault' in outcome)
  assert.match(outcome.fault, /^takes more than 20 s to load$|^cannot be loaded: .*memory limit/)
  // A minute is what a thread gets that has little of the machine.
  assert.equal(performance.now() - started < 70_000, true)
  // The next ones get another.
  assert.ok('value' in (await policyWorker.compile(sourceOf({ 'main.yaml': `${HEADER}rules: []\n` }))))
})

/** Thread without work, which answers how late its event loop was at most: the machine's part in such a delay. */
const IDLE_THREAD = `
const { parentPort } = require('node:worker_threads')
const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 5 })
delay.enable()
parentPort.once('message', () => parentPort.postMessage(delay.max / 1e6))
`

/** Returns the longest delay of the event loop while a large set comes into force, and that of an idle one, in ms. */
async function stallsOf(gate: Gate, reason: string): Promise<{ stallMs: number; idleMs: number }> {
  const key = await gate.key()
  const loaded = async () => (await gate.call(key, 'GET', '/policies')).body.data
  const { digest } = await loaded()
  const idle = new Worker(IDLE_THREAD, { eval: true })
  await once(idle, 'online')
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), largePolicy(reason))
  await until('the set is in force', async () => (await loaded()).digest !== digest)
  delay.disable()
  idle.postMessage('how late?')
  const [idleMs] = await once(idle, 'message')
  assert.equal((await loaded()).rules, 4500)
  return { stallMs: delay.max / 1e6, idleMs }
}

fullTest('a large policy set comes into force without holding up the service', async (t) => {
  const gate = await startGate(t, { threads: 'own' })
  // Parsing such a file takes more than a second. Other programs may take both cores for a while, but not each time.
  const stalls: string[] = []
  for (let i = 0; i < 8; i += 1) {
    const { stallMs, idleMs } = await stallsOf(gate, `Large ${i}.`)
    stalls.push(`${stallMs.toFixed(0)} ms, an idle one ${idleMs.toFixed(0)}`)
    t.diagnostic(`the event loop stood still for ${stalls.at(-1)}`)
    // On a busy machine everything takes longer: parsing it here too.
    const sinceMs = performance.now()
    compilePolicySet(sourceOf({ 'main.yaml': largePolicy('R.') }))
    if (stallMs < Math.max(150 + idleMs, (performance.now() - sinceMs) / 8)) return
  }
  assert.fail(`the event loop stood still for ${stalls.join('; ')}`)
})

const partsOf = ({ parts }: Cut, name: string): number => parts.filter((part) => part.name === name).length

test('what is cut into parts is joined as it was, with a turn for others between the parts', async () => {
  const lists = fc.array(fc.jsonValue(), { maxLength: 500, size: 'max' })
  const maps = fc.array(fc.tuple(fc.string(), lists), { maxLength: 50 }).map((entries) => new Map(entries))
  const members = fc.oneof(lists, maps, fc.jsonValue(), fc.constant(undefined))
  const whole = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), members, { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(whole, async (value) => {
      const sent = structuredClone(cut(value))
      let turns = 0
      const count = (): void => {
        turns += 1
        if (!over) setImmediate(count)
      }
      let over = false
      setImmediate(count)
      const joint = await joined(sent)
      over = true
      assert.deepEqual(joint, value)
      assert.ok(turns >= sent.parts.length, `${turns} turns for ${sent.parts.length} parts`)
      for (const [name, one] of Object.entries(value))
        if (Array.isArray(one)) assert.equal(partsOf(sent, name), Math.max(1, Math.ceil(one.length / 100)))
    }),
    { numRuns: runs(100) },
  )
})

test('what several parts share is sent once, and is one object again', async () => {
  const terms = { approvers: Array.from({ length: 1000 }, (_, i) => `person ${i}`) }
  const sent = structuredClone(cut({ rules: Array.from({ length: 1000 }, (_, id) => ({ id, terms })) }))
  assert.ok(sent.bytes.length < 100_000, `${sent.bytes.length} bytes`)
  const { rules } = (await joined(sent)) as { rules: { terms: object }[] }
  assert.equal(new Set(rules.map((rule) => rule.terms)).size, 1)
})

test('a worker that is closed ends what runs and what comes, which says nothing about the policies', async () => {
  const policyWorker = threadedPolicyWorker()
  const source = { tenant: 'acme', files: [], lists: new Map(), ignored: [] }
  const running = policyWorker.compile(source)
  policyWorker.close(new Error('stopping'))
  await assert.rejects(running, /^Error: stopping$/)
  await assert.rejects(policyWorker.listFiles([]), /^Error: stopping$/)
  await assert.rejects(policyWorker.compile(source), /^Error: stopping$/)
})
