import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER } from '../authoring/sources.ts'
import { ACME_POLICY, type Gate, type GateOptions, startGate, writeFiles } from '../helpers.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entriesOf, untilLoaded } from './support.ts'

/** Holds from 500, where the set in force holds above 1000; denies mail. */
const CANDIDATE = ACME_POLICY.replace('value: 1000}', 'value: 500}').replace(
  'id: mail, actions: ["email.*"], effect: allow, reason: Mail is fine.',
  'id: no-mail, actions: ["email.*"], effect: deny, reason: SECRET-REASON',
)
const FOLDERS = { 'acme/main.yaml': ACME_POLICY, 'acme.shadow/main.yaml': CANDIDATE }
/** The same as rules of the set in force. */
const RULES = `${ACME_POLICY}
  - {id: half, actions: ["payment.*"], effect: require_approval, mode: shadow, reason: Half., when: {fact: context.amount, operator: greaterThan, value: 500}}
  - {id: no-mail, actions: ["email.*"], effect: deny, mode: shadow, reason: SECRET-REASON}
`

type Key = Awaited<ReturnType<Gate['key']>>

async function people(gate: Gate) {
  const [bot, ann, auditor] = await Promise.all([
    gate.key({ roles: ['agent'], identity: 'bot' }),
    gate.key({ roles: ['approver'], identity: 'ann' }),
    gate.key({ roles: ['auditor', 'operator'] }),
  ])
  return { bot, ann, auditor }
}

const ask = async (gate: Gate, key: Key, action: string, context = {}, more = {}) =>
  (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action, context, ...more })).body.data

const stateOf = async (gate: Gate, key: Key) => (await gate.call(key, 'GET', '/policies/shadow')).body.data

/** Waits until the folder of the set in shadow has been read, which holds no start up. */
async function untilRead(gate: Gate, key: Key): Promise<void> {
  await until('the folder is read', async () => {
    const { digest, faults } = await stateOf(gate, key)
    return digest !== null || faults.length > 0
  })
}

/** The decision of the trail. */
const recorded = async (gate: Gate, key: Key, { decisionId }: { decisionId: string }) =>
  (await gate.call(key, 'GET', `/decisions/${decisionId}`)).body.data

const cells = (comparison: { matrix: { from: string; to: string; count: number }[] }) =>
  Object.fromEntries(comparison.matrix.map(({ from, to, count }) => [`${from}->${to}`, count]))

async function start(options: GateOptions) {
  const gate = await startGate({ after }, options)
  const all = { gate, ...(await people(gate)) }
  // From its entry on, rules in shadow count.
  await untilLoaded(gate, all.auditor)
  await untilRead(gate, all.auditor)
  return all
}

/** Two services with the same set in shadow, of each origin. */
const [byFolder, byRules] = await Promise.all([
  start({ policies: FOLDERS }),
  start({ policies: { 'acme/main.yaml': RULES } }),
])

const ASKED: [what: string, action: string, context: object, decision: string, shadow: object | undefined][] = [
  ['the same', 'payment.transfer', { amount: 10 }, 'allow', undefined],
  ['a hold of both', 'payment.transfer', { amount: 2000 }, 'require_approval', undefined],
  ['a denial of both', 'payment.transfer', { amount: 200_000 }, 'deny', undefined],
  ['a request that does not fit', 'payment.transfer', {}, 'deny', undefined],
  ['an action that no rule is about', 'db.drop', {}, 'deny', undefined],
  [
    'a hold in place of an allow',
    'payment.transfer',
    { amount: 700 },
    'allow',
    { decision: 'require_approval', decidedBy: 'hold_rule' },
  ],
  [
    'a denial in place of an allow',
    'email.send',
    {},
    'allow',
    { decision: 'deny', decidedBy: 'deny_rule', rule: 'no-mail' },
  ],
]
for (const [origin, { gate, bot, auditor }] of [['folder', byFolder] as const, ['rules', byRules] as const]) {
  for (const [what, action, context, decision, shadow] of ASKED) {
    test(`${origin}: ${what}`, async () => {
      const answer = await ask(gate, bot, action, context)
      assert.equal(answer.decision, decision)
      assert.doesNotMatch(JSON.stringify(answer), /shadow|SECRET|no-mail|half/)
      const { digest } = await stateOf(gate, auditor)
      const found = await recorded(gate, auditor, answer)
      const { rule, ...note } = found.shadow
      assert.deepEqual({ ...note, ...(shadow && 'rule' in shadow && { rule }) }, { digest, ...shadow })
      assert.equal(found.reproduced, true)
    })
  }

  test(`${origin}: the comparison counts each decision, and the list finds those that differ`, async () => {
    const { origin: told, comparison, since, rules } = await stateOf(gate, auditor)
    assert.equal(told, origin)
    assert.deepEqual(rules, origin === 'rules' ? ['half', 'no-mail'] : [])
    assert.ok(Date.parse(since) <= Date.now())
    assert.deepEqual(
      [comparison.decisions, comparison.failed, comparison.complete, cells(comparison)],
      [
        ASKED.length,
        [],
        true,
        {
          'allow->allow': 1,
          'allow->deny': 1,
          'allow->require_approval': 1,
          'deny->deny': 3,
          'require_approval->require_approval': 1,
        },
      ],
    )
    const listed = async (query: string) =>
      (await gate.call(auditor, 'GET', `/decisions?${query}`)).body.data.items.map(
        ({ action }: { action: string }) => action,
      )
    assert.deepEqual(await listed('shadow=differs'), ['email.send', 'payment.transfer'])
    assert.deepEqual(await listed('shadow=deny'), ['email.send'])
    assert.deepEqual(await listed('shadow=deny&decision=deny'), [])
    assertRefused(await gate.call(auditor, 'GET', '/decisions?shadow=maybe'), 'invalid_request')
  })

  test(`${origin}: metrics count by the decision and that of the set in shadow`, async () => {
    const response = await fetch(`${gate.server.url}/metrics`)
    const text = await response.text()
    assert.match(text, /gate_sidecar_shadow_decisions_total\{from="allow",to="deny"\} 1\n/)
    assert.match(text, /gate_sidecar_shadow_decisions_total\{from="deny",to="deny"\} 3\n/)
    assert.match(text, /gate_sidecar_shadow_failures_total\{why="error"\} 0\n/)
  })
}

test('an approval answers the hold of both; a stop is no question of policies', async (t) => {
  const gate = await startGate(t, { policies: FOLDERS })
  const { bot, ann, auditor } = await people(gate)
  await untilRead(gate, auditor)
  const held = await ask(gate, bot, 'payment.transfer', { amount: 3000 })
  assertDone(await gate.call(ann, 'POST', `/approvals/${held.approvalId}/approve`, { approverId: 'ann' }))
  const used = await ask(gate, bot, 'payment.transfer', { amount: 3000 }, { approvalId: held.approvalId })
  assert.deepEqual([used.decision, used.decidedBy], ['allow', 'approval'])
  assert.deepEqual(Object.keys((await recorded(gate, auditor, used)).shadow), ['digest'])
  assertDone(
    await gate.call(auditor, 'POST', '/killswitch/trigger', {
      level: 'L1',
      scope: 'email.send',
      triggeredBy: 'auditor',
      reason: 'Drill.',
    }),
  )
  const stopped = await ask(gate, bot, 'email.send')
  assert.equal(stopped.decidedBy, 'kill_switch')
  assert.equal((await recorded(gate, auditor, stopped)).shadow, undefined)
})

test('observed policies are compared by what they decide', async (t) => {
  const gate = await startGate(t, {
    policies: { ...FOLDERS, 'acme/main.yaml': `${ACME_POLICY}mode: observe\n` },
  })
  const { bot, auditor } = await people(gate)
  await untilRead(gate, auditor)
  const answer = await ask(gate, bot, 'payment.transfer', { amount: 2000 })
  assert.deepEqual([answer.decision, answer.observed], ['allow', 'require_approval'])
  const mail = await ask(gate, bot, 'email.send')
  assert.deepEqual(cells((await stateOf(gate, auditor)).comparison), {
    'require_approval->require_approval': 1,
    'allow->deny': 1,
  })
  assert.equal((await recorded(gate, auditor, mail)).shadow.decision, 'deny')
})

test('facts over time of the set in shadow count what was allowed', async (t) => {
  const COUNTING = `${HEADER}rules:
  - {id: mail, actions: ["email.*"], effect: allow, reason: Mail is fine.}
  - {id: many, actions: ["email.*"], effect: deny, reason: Two are enough., when: {fact: history.count.mails, operator: greaterThan, value: 2}}
history: {count: {mails: {actions: ["email.*"], within: 1h, by: agent}}}
`
  const gate = await startGate(t, { policies: { ...FOLDERS, 'acme.shadow/main.yaml': COUNTING } })
  const { bot, auditor } = await people(gate)
  await untilRead(gate, auditor)
  let denied = 0
  for (let asked = 1; denied < 2; asked += 1) {
    assert.ok(asked < 40, 'it never says anything')
    const { decision, failed } = (await recorded(gate, auditor, await ask(gate, bot, 'email.send'))).shadow
    // On a busy machine it may be too late, and rests.
    if (failed === 'time') await sleep(100)
    else assert.equal(decision, asked > 2 ? 'deny' : undefined)
    if (decision === 'deny') denied += 1
  }
})

test('a folder with faults has no set in shadow, and changes nothing else', async (t) => {
  const gate = await startGate(t, {
    policies: { ...FOLDERS, 'acme.shadow/main.yaml': CANDIDATE.replace('effect: deny', 'effect: denny') },
  })
  const { bot, auditor } = await people(gate)
  await untilRead(gate, auditor)
  const { digest, faults, diagnostics, comparison } = await stateOf(gate, auditor)
  assert.deepEqual([digest, comparison], [null, null])
  assert.match(faults[0], /effect|GATE1104/)
  assert.equal(diagnostics[0].severity, 'error')
  const answer = await ask(gate, bot, 'email.send')
  assert.equal((await recorded(gate, auditor, answer)).shadow, undefined)
  assert.equal((await gate.call(auditor, 'GET', '/policies')).body.data.current, true)
  assert.equal((await fetch(`${gate.server.url}/readyz`)).status, 200)
  writeFiles(join(gate.dir, 'policies'), { 'acme.shadow/main.yaml': CANDIDATE })
  await until('it is in shadow', async () => (await stateOf(gate, auditor)).digest !== null)
})

test('the trail tells once of each set that comes into shadow or leaves it, over a restart too', async (t) => {
  const gate = await startGate(t, { policies: FOLDERS })
  const { bot, auditor } = await people(gate)
  await until('it is told', async () => (await entriesOf(gate, 'policy.shadowed')) === 1)
  await ask(gate, bot, 'email.send')
  const { since } = await stateOf(gate, auditor)
  await gate.server.close()
  const again = await startGate(t, { policies: FOLDERS, dir: gate.dir })
  await untilRead(again, auditor)
  await ask(again, bot, 'email.send')
  const state = await stateOf(again, auditor)
  assert.deepEqual([state.since, cells(state.comparison)], [since, { 'allow->deny': 2 }])
  assert.equal(await entriesOf(again, 'policy.shadowed'), 1)
  rmSync(join(gate.dir, 'policies', 'acme.shadow'), { recursive: true })
  assertDone(await again.call(auditor, 'POST', '/policies/reload', {}))
  assert.equal((await stateOf(again, auditor)).digest, null)
  assert.equal(await entriesOf(again, 'policy.shadowed'), 2)
  writeFiles(join(gate.dir, 'policies'), { 'acme.shadow/main.yaml': CANDIDATE })
  assertDone(await again.call(auditor, 'POST', '/policies/reload', {}))
  // It counts from the last time that it came into shadow.
  const third = await stateOf(again, auditor)
  assert.ok(third.since > since)
  assert.deepEqual(third.comparison.matrix, [])
})

test('a set that left while the service was stopped is told of, and one that a tenant without a folder never had is not', async (t) => {
  const gate = await startGate(t, { policies: FOLDERS })
  const { auditor } = await people(gate)
  const bare = await gate.key({ tenant: 'bare' })
  await until('it is told', async () => (await entriesOf(gate, 'policy.shadowed')) === 1)
  await gate.server.close()
  rmSync(join(gate.dir, 'policies', 'acme.shadow'), { recursive: true })
  const again = await startGate(t, { dir: gate.dir })
  await until('the end is told', async () => (await entriesOf(again, 'policy.shadowed')) === 2)
  const [entry] = (await again.call(auditor, 'GET', '/audit/chain?eventType=policy.shadowed&limit=1')).body.data
  assert.deepEqual([entry.data.digest, entry.data.since], [null, null])
  assert.equal((await again.call(bare, 'GET', '/policies/shadow')).body.data.digest, null)
  assert.equal(await entriesOf(again, 'policy.shadowed', 'bare/live'), 0)
})

test('with watch off, a set is recorded for a tenant that is made later, and changes come on request', async (t) => {
  const gate = await startGate(t, { policies: FOLDERS, watch: 'off' })
  const { bot, auditor } = await people(gate)
  await until('it is told', async () => (await entriesOf(gate, 'policy.shadowed')) === 1)
  writeFiles(join(gate.dir, 'policies'), { 'acme.shadow/main.yaml': ACME_POLICY })
  await ask(gate, bot, 'email.send')
  assert.deepEqual(cells((await stateOf(gate, auditor)).comparison), { 'allow->deny': 1 })
  assertDone(await gate.call(auditor, 'POST', '/policies/reload', {}))
  await until('the other set is in shadow', async () => (await stateOf(gate, auditor)).comparison?.decisions === 0)
})

test('a folder takes the place of rules in shadow, also with faults or the same content', async (t) => {
  const gate = await startGate(t, { policies: { 'acme/main.yaml': RULES, 'acme.shadow/main.yaml': RULES } })
  const { bot, auditor } = await people(gate)
  await untilLoaded(gate, auditor)
  await untilRead(gate, auditor)
  await ask(gate, bot, 'email.send')
  assert.deepEqual(cells((await stateOf(gate, auditor)).comparison), { 'allow->allow': 1 })
  const reload = async (): Promise<void> => assertDone(await gate.call(auditor, 'POST', '/policies/reload', {}))
  writeFiles(join(gate.dir, 'policies'), { 'acme.shadow/main.yaml': `${RULES}nonsense: 1\n` })
  await reload()
  const { digest, origin, faults } = await stateOf(gate, auditor)
  assert.deepEqual([digest, origin, faults.length], [null, null, 1])
  assert.equal((await recorded(gate, auditor, await ask(gate, bot, 'email.send'))).shadow, undefined)
  rmSync(join(gate.dir, 'policies', 'acme.shadow'), { recursive: true })
  await reload()
  await ask(gate, bot, 'email.send')
  const state = await stateOf(gate, auditor)
  assert.deepEqual([state.origin, cells(state.comparison)], ['rules', { 'allow->deny': 1 }])
})

test('roles: who may not read the trail does not see the set in shadow', async () => {
  const { gate, bot, ann } = byFolder
  for (const key of [bot, ann]) assertRefused(await gate.call(key, 'GET', '/policies/shadow'), 'forbidden')
  const other = await gate.key({ tenant: 'other', roles: ['auditor'] })
  assert.equal((await stateOf(gate, other)).digest, null)
})
