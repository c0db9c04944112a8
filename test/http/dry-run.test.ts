import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HEADER } from '../authoring/sources.ts'
import { ACME_POLICY, type Answer, inThisThread, startGate, temporaryFolder } from '../helpers.ts'
import { assertDone, assertRefused, entries } from './support.ts'

const HISTORY = `
history:
  count:
    pages: {actions: ["page.*"], within: 1h, by: agent}
`
const PAGES = `  - {id: pages, actions: ["page.*"], effect: deny, reason: Two pages an hour., when: {fact: history.count.pages, operator: greaterThan, value: 2}}
  - {id: read, actions: ["page.*"], effect: allow, reason: Reading is fine.}
`
const policies = {
  'acme/main.yaml': `${ACME_POLICY.replace('\ndomains:', `${HISTORY}domains:`)}${PAGES}`,
  'closed/main.yaml': `explain: reason\n${ACME_POLICY.replace('tenant: acme', 'tenant: closed')}`,
}
const gate = await startGate({ after }, { policies, watch: 'off' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
const auditor = await gate.key({ roles: ['auditor'] })
type Key = typeof agent

const PATH = '/policies/dry-run'
const dryRun = (body: object, key: Key = auditor): Promise<Answer> => gate.call(key, 'POST', PATH, body)
const draft = (rules: string) => [{ name: 'main.yaml', text: `${HEADER}rules:\n${rules}` }]
const DENY_ALL = draft('  - {id: closed, actions: ["**"], effect: deny, reason: Nothing for now.}\n')

const REQUESTS: [name: string, request: object][] = [
  ['an allow', { action: 'payment.transfer', context: { amount: 5 } }],
  ['a deny', { action: 'payment.transfer', context: { amount: 200_000 } }],
  ['a hold', { action: 'payment.transfer', context: { amount: 5000 }, plan: { action: 'payment.transfer' } }],
  ['a context that does not fit', { action: 'payment.transfer', context: { amount: 'x' } }],
  ['a plan of another action', { action: 'email.send', plan: { action: 'page.read' } }],
  ['no rule', { action: 'db.drop' }],
]

for (const [name, request] of REQUESTS) {
  test(`a dry run says what a check then answers, and records nothing: ${name}`, async () => {
    const before = await entries(gate)
    const answer = await dryRun({ ...request, agent: 'bot' })
    assertDone(answer)
    assert.equal(await entries(gate), before)
    assert.equal((await gate.call(await gate.key(), 'GET', '/approvals')).body.data.length, 0)
    const { verdict, policyDigest, diagnostics } = answer.body.data
    const body = { tenantId: 'acme', ...request }
    const { data } = (await gate.call(agent, 'POST', '/gate/check?explain=1', body)).body
    if (data.approvalId !== null)
      await gate.call(await gate.key(), 'POST', `/approvals/${data.approvalId}/reject`, { approverId: 'x' })
    const { decision, reason, rule, decidedBy, retry, riskScore, factors, unevaluable, explanation } = data
    const planValidated = data.plan.validated
    assert.deepEqual(
      { verdict, policyDigest, diagnostics },
      {
        verdict: {
          decision,
          reason,
          rule,
          decidedBy,
          retry,
          riskScore,
          factors,
          unevaluable,
          planValidated,
          explanation,
        },
        policyDigest: data.policyDigest,
        diagnostics: [],
      },
    )
  })
}

test('what an agent was allowed before counts for it, and the dry run itself does not count', async () => {
  const page = { action: 'page.read', agent: 'bot' }
  const decided = async (body: object, key = auditor): Promise<string> =>
    (await dryRun(body, key)).body.data.verdict.decision
  for (let i = 0; i < 3; i += 1) assert.equal(await decided(page), 'allow')
  for (let i = 0; i < 2; i += 1)
    await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'page.read' })
  assert.equal(await decided(page), 'deny')
  assert.deepEqual(
    [await decided({ action: 'page.read' }), await decided({ ...page, agent: 'other' })],
    ['allow', 'allow'],
  )
  // The same agent in the other environment was allowed nothing.
  assert.equal(await decided(page, await gate.key({ roles: ['auditor'], environment: 'test' })), 'allow')
  const files = [{ name: 'main.yaml', text: `${HEADER}${HISTORY.trimStart()}rules:\n${PAGES}` }]
  assert.equal(await decided({ ...page, files }), 'deny')
  assert.equal(await decided({ action: 'page.read', files }), 'allow')
  assert.equal(
    (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'page.read' })).body.data.decision,
    'deny',
  )
})

test('a draft is asked in place of the policies in force, and does not come into force', async () => {
  const before = (await gate.call(auditor, 'GET', '/policies')).body.data.digest
  const answer = await dryRun({ action: 'email.send', files: DENY_ALL })
  assertDone(answer)
  const { verdict, policyDigest } = answer.body.data
  assert.deepEqual([verdict.decision, verdict.rule, verdict.reason], ['deny', 'closed', 'Nothing for now.'])
  assert.deepEqual([verdict.explanation.rules[0].file, verdict.explanation.rules[0].line], ['acme/main.yaml', 4])
  const valid = (await gate.call(auditor, 'POST', '/policies/validate', { files: DENY_ALL })).body.data.digest
  assert.deepEqual([policyDigest === before, policyDigest], [false, valid])
  assert.equal((await gate.call(auditor, 'GET', '/policies')).body.data.digest, before)
  assert.equal((await dryRun({ action: 'email.send' })).body.data.verdict.decision, 'allow')
})

test('a draft reads its lists, and warnings do not keep it from answering', async () => {
  const files = [
    {
      name: 'main.yaml',
      text: `${HEADER}lists: {bad: {file: lists/bad.txt}}\nrules:\n  - {id: bad, actions: ["**"], effect: deny, reason: B., when: {fact: agent, operator: inList, value: bad}}\n  - {id: rest, actions: ["**"], effect: allow, reason: R.}\n`,
    },
  ]
  const lists = [{ path: 'lists/bad.txt', text: 'eve\n' }]
  const asked = async (body: object) => (await dryRun({ action: 'email.send', files, ...body })).body.data
  assert.equal((await asked({ lists, agent: 'eve' })).verdict.decision, 'deny')
  assert.equal((await asked({ lists, agent: 'bob' })).verdict.decision, 'allow')
  const empty = await asked({ lists: [{ path: 'lists/bad.txt', text: '# none\n' }] })
  assert.deepEqual([empty.verdict.decision, empty.diagnostics[0].code], ['allow', 'GATE2009'])
})

test('a draft has the list files in force, but for those that it brings', async (t) => {
  const dir = temporaryFolder()
  const rules = `${HEADER}lists: {bad: {file: lists/bad.txt}}\nrules:\n  - {id: bad, actions: ["**"], effect: deny, reason: B., when: {fact: agent, operator: inList, value: bad}}\n  - {id: rest, actions: ["**"], effect: allow, reason: R.}\n`
  const listed = await startGate(t, { dir, policies: { 'acme/main.yaml': rules, 'acme/lists/bad.txt': 'eve\n' } })
  const key = await listed.key({ roles: ['auditor'] })
  const files = [{ name: 'main.yaml', text: rules }]
  const decided = async (agent: string, more: object = {}): Promise<string> =>
    (await listed.call(key, 'POST', PATH, { action: 'a', files, agent, ...more })).body.data.verdict?.decision
  assert.deepEqual([await decided('eve'), await decided('bob')], ['deny', 'allow'])
  const lists = [{ path: 'lists/bad.txt', text: 'bob\n' }]
  assert.deepEqual([await decided('eve', { lists }), await decided('bob', { lists })], ['allow', 'deny'])
})

test('a draft with errors has no verdict, and says what is wrong, with the line', async () => {
  const answer = await dryRun({ action: 'email.send', files: draft('  - {id: x, efect: deny}\n') })
  assertDone(answer)
  const { verdict, policyDigest, diagnostics } = answer.body.data
  assert.deepEqual([verdict, policyDigest], [null, null])
  const fault = diagnostics.find(({ code }: { code: string }) => code === 'GATE1101')
  assert.deepEqual([fault.line, fault.excerpt], [4, '  - {id: x, efect: deny}'])
})

test('a stop covers what a draft would allow, by the domains of the draft', async (t) => {
  const stopped = await startGate(t, { watch: 'off' })
  const key = await stopped.key()
  const stop = { level: 'L2', scope: 'finance', reason: 'Leak.', triggeredBy: 'ann' }
  assertDone(await stopped.call(key, 'POST', '/killswitch/trigger', stop))
  const decidedBy = async (body: object) => (await stopped.call(key, 'POST', PATH, body)).body.data.verdict.decidedBy
  assert.equal(await decidedBy({ action: 'payment.transfer', context: { amount: 1 } }), 'kill_switch')
  const files = [
    {
      name: 'main.yaml',
      text: `${HEADER}domains: {finance: ["invoice.*"]}\nrules:\n  - {id: all, actions: ["**"], effect: allow, reason: R.}\n`,
    },
  ]
  assert.equal(await decidedBy({ action: 'invoice.send', files }), 'kill_switch')
  assert.equal(await decidedBy({ action: 'invoice.send' }), 'default')
})

test('who may ask is told all, whatever the policies let an agent know; without policies everything is denied', async () => {
  const closed = await dryRun({ action: 'email.send' }, await gate.key({ tenant: 'closed' }))
  assert.equal(closed.body.data.verdict.explanation.rules[0].id, 'mail')
  const { verdict, policyDigest } = (await dryRun({ action: 'email.send' }, await gate.key({ tenant: 'nobody' }))).body
    .data
  assert.deepEqual([verdict.decision, verdict.decidedBy, policyDigest], ['deny', 'no_policy', null])
})

const large = 'x'.repeat(700_000)
const REFUSED: [name: string, body: object, error: 'invalid_request' | 'tenant_mismatch' | 'payload_too_large'][] = [
  ['no action', { context: {} }, 'invalid_request'],
  ['an unknown member', { action: 'a', approvalId: 'x' }, 'invalid_request'],
  ['nobody by name', { action: 'a', agent: '' }, 'invalid_request'],
  ['another tenant', { tenantId: 'other', action: 'a' }, 'tenant_mismatch'],
  ['lists without files', { action: 'a', lists: [{ path: 'a.txt', text: '' }] }, 'invalid_request'],
  ['a path for a name', { action: 'a', files: [{ name: '../a.yaml', text: '' }] }, 'invalid_request'],
  ['more than a check can bring', { action: 'a', context: { large }, plan: { large } }, 'payload_too_large'],
]
for (const [name, body, error] of REFUSED)
  test(`a dry run refuses ${name}`, async () => assertRefused(await dryRun(body), error))

test('drafts and validations of a tenant take turns, and what does not end in time is a fault', async (t) => {
  let letEnd = (): void => undefined
  const end = new Promise<void>((resolve) => {
    letEnd = resolve
  })
  const { policyWorker } = inThisThread
  const slow = await startGate(t, {
    watch: 'off',
    threads: {
      ...inThisThread,
      policyWorker: {
        ...policyWorker,
        async judge() {
          await end
          return { fault: 'takes more than 20 s to answer' }
        },
      },
    },
  })
  const key = await slow.key()
  const ask = (path: string, body: object) => slow.call(key, 'POST', path, body)
  const waiting = Array.from({ length: 6 }, () => ask(PATH, { action: 'email.send', files: DENY_ALL }))
  assertRefused(await Promise.race(waiting), 'overloaded')
  assertRefused(await ask('/policies/validate', { files: DENY_ALL }), 'overloaded')
  // The policies in force are asked without waiting for any draft.
  assertDone(await ask(PATH, { action: 'email.send' }))
  letEnd()
  const done = (await Promise.all(waiting)).find(({ status }) => status === 200)
  assert.ok(done)
  const { verdict, diagnostics } = done.body.data
  assert.deepEqual([verdict, diagnostics[0].code, diagnostics[0].excerpt], [null, 'GATE1020', null])
  assert.match(diagnostics[0].message, /takes more than 20 s to answer/)
})
