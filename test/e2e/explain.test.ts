import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decisionEntry } from '../../src/actions/decisions/decisions.ts'
import { explainEntry } from '../../src/actions/decisions/explain.ts'
import { callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { policyHistory, storedSets } from '../../src/actions/policies/history.ts'
import { compilePolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import type { PolicySet } from '../../src/policies/set.ts'
import { HEADER, setOf } from '../authoring/sources.ts'
import { startGate } from '../helpers.ts'
import { runs } from '../tier.ts'

const gate = await startGate({ after })
const { store } = gate.server
const newId = idMaker(Date.now, randomBytes)
const { id: keyId } = await gate.key({ identity: 'bot' })
const key = store.state().keys.get(keyId)
assert.ok(key)
const caller = callerOf(key, 'acme')

const fact = fc.constantFrom('context.a', 'context.b', 'plan.c', 'agent', 'time.hour', 'environment')
/** Built-in facts are compared with what they can be. */
const BUILT_IN: Record<string, string | number> = { 'time.hour': 7, environment: 'live', agent: 'bot' }
const leaf = fc
  .tuple(fact, fc.constantFrom('equal', 'notEqual', 'exists', 'missing'), fc.constantFrom(0, 1, 'bot'))
  .map(([name, operator, value]) =>
    operator === 'exists' || operator === 'missing'
      ? `{fact: ${name}, operator: ${operator}}`
      : `{fact: ${name}, operator: ${operator}, value: ${BUILT_IN[name] ?? value}}`,
  )
const condition = fc.oneof(
  leaf,
  leaf.map((one) => `{not: ${one}}`),
  fc
    .tuple(fc.constantFrom('all', 'any'), fc.array(leaf, { minLength: 1, maxLength: 3 }))
    .map(([kind, leaves]) => `{${kind}: [${leaves.join(', ')}]}`),
)
const policy = fc
  .record({
    decision: fc.constantFrom('deny', 'require_approval'),
    required: fc.boolean(),
    rules: fc.array(fc.tuple(fc.constantFrom('allow', 'deny', 'require_approval'), fc.option(condition)), {
      maxLength: 5,
    }),
    factors: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), condition, fc.boolean()), { maxLength: 3 }),
  })
  .map(({ decision, required, rules, factors }) => {
    const schema = required ? 'actions: {a.b: {context: {type: object, required: [a]}}}\n' : ''
    const rule = ([effect, when]: (typeof rules)[number], i: number) =>
      `  - {id: r${i}, actions: [a.b], effect: ${effect}, reason: Rule ${i}.${when === null ? '' : `, when: ${when}`}}\n`
    const factor = ([weight, when, scaled]: (typeof factors)[number], i: number) =>
      `  - {name: f${i}, actions: [a.b], weight: ${weight}, when: ${when}${scaled ? ', scale: {fact: context.b, from: 0, to: 3}' : ''}}\n`
    const [rulesText, factorsText] = [rules.map(rule).join(''), factors.map(factor).join('')]
    return `${schema}defaults: {decision: ${decision}, reason: Default.}\n${rulesText && `rules:\n${rulesText}`}${factorsText && `risk:\n${factorsText}`}`
  })
const context = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom(0, 1, 2, 'bot', null, [1]))
const plan = fc.option(fc.record({ action: fc.constantFrom('a.b', 'other'), c: fc.constantFrom(0, 1) }), {
  nil: undefined,
})

test('whatever the policies and the request, the recorded decision comes out again', async () => {
  await fc.assert(
    fc.asyncProperty(policy, context, plan, async (text, given, planned) => {
      const set = setOf(text)
      const inForce = { get: () => set }
      const request = {
        tenantId: 'acme',
        action: 'a.b',
        context: given,
        ...(planned !== undefined && { plan: planned }),
      }
      const deps = { store, clock: Date.now, newId, policies: inForce, history: historyReader(store) }
      const told = await check(deps, caller, request, undefined, { explain: true })
      const entry = await decisionEntry(store, told.decisionId)
      assert.ok(entry)
      // As it is done later: the set is compiled anew from the stored text, under its digest.
      const source = {
        files: [{ name: 'main.yaml', base64: Buffer.from(HEADER + text).toString('base64') }],
        lists: [],
        ignored: [],
      }
      const stored = { policySource: async () => JSON.stringify(source) }
      const compile = async (from: Parameters<typeof compilePolicySet>[0]) => ({ value: compilePolicySet(from) })
      const findSet = policyHistory(storedSets({ store: stored, compile }), { get: () => undefined })
      const again = await explainEntry({ ...deps, findSet }, entry)
      assert.deepEqual([again.reproduced, again.differences], [true, []])
      assert.deepEqual(again.explanation, told.explanation)
    }),
    { numRuns: runs(100) },
  )
})

/** Policies by digest, each of which takes until it is let go. */
function slowHistory(inForce?: PolicySet) {
  const started: string[] = []
  const waiting: (() => void)[] = []
  const set = setOf('')
  const history = policyHistory(
    storedSets({
      store: { policySource: async (_, digest) => JSON.stringify({ files: [], lists: [], ignored: [digest] }) },
      compile: async ({ ignored: [digest = ''] }) => {
        started.push(digest)
        await new Promise<void>((done) => waiting.push(done))
        return { value: { data: { ...set, digest }, diagnostics: [], tests: [] } }
      },
    }),
    { get: () => inForce },
  )
  const letGo = async (): Promise<void> => {
    for (let tries = 0; tries < 100 && waiting.length === 0; tries += 1) await new Promise(setImmediate)
    const done = waiting.shift()
    assert.ok(done, 'nothing is being compiled')
    done()
  }
  return { started, letGo, digestOf: async (digest: string) => foundDigest(await history('acme', digest)) }
}

function foundDigest(found: Awaited<ReturnType<ReturnType<typeof policyHistory>>>): string {
  return 'set' in found ? found.set.digest : found.code
}

test('earlier policies are compiled one after the other, once for all who wait, and the newest two are kept ready', async () => {
  const { started, letGo, digestOf } = slowHistory()
  const asked = [digestOf('a'), digestOf('a'), digestOf('b'), digestOf('c')]
  for (let i = 0; i < 3; i += 1) {
    await letGo()
    assert.equal(started.length, i + 1)
  }
  assert.deepEqual(await Promise.all(asked), ['a', 'a', 'b', 'c'])
  assert.deepEqual(await Promise.all([digestOf('b'), digestOf('c')]), ['b', 'c'])
  const again = digestOf('a')
  await letGo()
  assert.equal(await again, 'a')
  assert.deepEqual(started, ['a', 'b', 'c', 'a'])
})

/** Ends after more turns than a refusal takes, so that what is not refused fails its test in place of waiting for ever. */
async function muchLater(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
}

test('too many earlier policies at once are refused, and room comes back', async () => {
  const { letGo, digestOf } = slowHistory()
  const asked = Array.from({ length: 8 }, (_, i) => digestOf(`d${i}`))
  await assert.rejects(Promise.race([digestOf('one more'), muchLater()]), { code: 'overloaded' })
  // A request for policies that are already being compiled takes no further place.
  asked.push(digestOf('d7'))
  for (let i = 0; i < 8; i += 1) await letGo()
  assert.equal((await Promise.all(asked)).length, 9)
  const later = digestOf('one more')
  await letGo()
  assert.equal(await later, 'one more')
})

test('policies in force are not compiled anew', async () => {
  const set = setOf('')
  const { started, digestOf } = slowHistory(set)
  assert.equal(await digestOf(set.digest), set.digest)
  assert.deepEqual(started, [])
})

test('a failure to read or compile fails that request, and not those after it', async () => {
  let isBroken = true
  const history = policyHistory(
    storedSets({
      store: {
        policySource: async () => {
          if (isBroken) throw new Error('the disk')
          return undefined
        },
      },
      compile: async () => ({ fault: 'takes more than 5 s to load' }),
    }),
    { get: () => undefined },
  )
  await assert.rejects(history('acme', 'a'), /the disk/)
  isBroken = false
  assert.equal(foundDigest(await history('acme', 'a')), 'policy_not_kept')
})
