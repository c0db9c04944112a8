import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ROUTES, type RouteRule } from '../../src/keys/routes.ts'
import { ACME_POLICY, type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { type Between, between } from './between.ts'
import { CASES, type Case } from './cases.ts'
import { ENDPOINTS } from './endpoints.ts'
import { assertHolds, filledIn } from './holds.ts'
import { CALL_NAMES, python, type Subject, typescript } from './subjects.ts'

/* All clients, by one table, against a running sidecar. */

const SUBJECTS: readonly Subject[] = [typescript, python('Python'), python('Python with asyncio', 'asyncio')]
const tenantOf = (subject: Subject): string => subject.name.toLowerCase().replaceAll(' ', '-')

const gate = await startGate(
  { after },
  {
    policies: Object.fromEntries(
      SUBJECTS.map(tenantOf).map((tenant) => [
        `${tenant}/main.yaml`,
        ACME_POLICY.replace('tenant: acme', `tenant: ${tenant}`),
      ]),
    ),
  },
)
type Key = Awaited<ReturnType<Gate['key']>>

/** Tenant, proxy and keys of one client, since clients are tested at the same time. */
interface Stand {
  tenant: string
  proxy: Between
  owner: Key
  approver: Key
}

async function standFor(subject: Subject): Promise<Stand> {
  const tenant = tenantOf(subject)
  const proxy = await between(gate.server.url)
  after(() => proxy.close())
  after(() => subject.close())
  const owner = await gate.key({ tenant, identity: 'olga' })
  const approver = await gate.key({ tenant, roles: ['approver'], identity: 'ann' })
  return { tenant, proxy, owner, approver }
}

/** Nobody listens there, and the system gives this port to nobody. */
const nowhere = 'http://127.0.0.1:2'

function optionsFor(one: Case, { proxy }: Stand, { secret, tenant }: Key) {
  const apiKey = one.as === 'unknown' ? `${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}` : secret
  const tenantId = one.as === 'elsewhere' ? 'other' : tenant
  return { tenantId, apiKey, baseUrl: one.down ? nowhere : proxy.url, timeout: 20_000, ...one.options }
}

/** Does what people do once an approval of this key is asked for. */
async function act(one: Case, stand: Stand, key: Key): Promise<void> {
  if (one.meanwhile === undefined) return
  const id = await pendingOf(key)
  if (one.meanwhile === 'stop') await gate.call(stand.owner, 'POST', '/killswitch/trigger', STOP)
  else if (one.meanwhile === 'reject') await vote(stand, id, 'reject', { reason: 'not this one' })
  else await vote(stand, id, 'approve')
  if (one.meanwhile === 'approve each') await vote(stand, await pendingOf(key), 'approve')
}

const pendingOf = (key: Key): Promise<string> =>
  until('an approval is asked for', async () => (await gate.call(key, 'GET', '/approvals')).body.data[0]?.id)

async function vote({ approver }: Stand, id: string, how: 'approve' | 'reject', more: object = {}): Promise<void> {
  const { status } = await gate.call(approver, 'POST', `/approvals/${id}/${how}`, { approverId: 'ann', ...more })
  assert.equal(status, 200)
}
const STOP = { level: 'L3', reason: 'x', triggeredBy: 'x' }

/** Ids of the decisions that were made for a key, oldest first. */
async function decisionsFor(owner: Key, key: Key): Promise<string[]> {
  const { data } = (await gate.call(owner, 'GET', '/audit/chain?eventType=gate.decision&order=asc&limit=500')).body
  return data.filter(({ actor }: { actor: { id: string } }) => actor.id === key.id).map(idOf)
}
const idOf = ({ data }: { data: { id: string } }): string => data.id

async function assertRecorded(one: Case, owner: Key, key: Key): Promise<void> {
  const made = await decisionsFor(owner, key)
  if (one.decisions !== undefined) assert.equal(made.length, one.decisions, 'decisions')
  if (one.outcome === undefined) return
  const { outcome } = (await gate.call(owner, 'GET', `/decisions/${made.at(-1)}`)).body.data
  assertHolds(outcome, one.outcome, 'the outcome')
}

async function assertCase(subject: Subject, stand: Stand, one: Case): Promise<void> {
  const { tenant, proxy, owner } = stand
  const key = await gate.key(one.as === 'owner' ? { tenant } : { tenant, roles: ['agent'] })
  proxy.play(one.steps ?? [], one.always ?? 'pass')
  const startMs = performance.now()
  const job = { call: one.call, ...(one.with && { with: one.with }), options: optionsFor(one, stand, key) }
  const [done] = await Promise.all([subject.run(job), act(one, stand, key)])
  const tookMs = performance.now() - startMs
  if (one.meanwhile === 'stop') {
    await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
  }

  if (one.error === undefined) assert.equal(done.error, undefined, JSON.stringify(done.error))
  else assertHolds(done.error, one.error, 'the error')
  if ('value' in one) assertHolds(done.value, one.value, 'the value')
  assert.equal(done.ran, one.ran ?? 0, 'ran')
  if (one.observed !== undefined) assertHolds(done.observed, one.observed, 'observed')
  assert.equal(done.unrecorded, one.unrecorded ?? 0, 'unrecorded')
  const lines = () => proxy.requests.map(({ line }) => line)
  if (one.requests !== undefined) {
    const { length } = one.requests
    // The client may have given up before its request was read here.
    await until('the requests are here', () => lines().length >= length)
    assert.deepEqual(lines(), one.requests)
  }
  if (one.sameKey) {
    const keys = new Set(proxy.requests.map(({ key: value }) => value))
    assert.equal(keys.size, 1)
    assert.match([...keys][0] ?? '', /^[!-~]{16,255}$/)
  }
  assert.ok(tookMs >= (one.tookMs?.atLeast ?? 0), `took ${tookMs} ms`)
  assert.ok(tookMs <= (one.tookMs?.atMost ?? Number.POSITIVE_INFINITY), `took ${tookMs} ms`)
  await assertRecorded(one, owner, key)
}

async function assertEndpoints(subject: Subject, { tenant, proxy, approver }: Stand): Promise<void> {
  const key = await gate.key({ tenant, identity: 'otto' })
  proxy.play([], 'pass')
  const known: Record<string, unknown> = { me: 'otto', policy: `apiVersion: gate-sidecar/v1\ntenant: ${tenant}\n` }
  for (const { call, with: given = {}, value, keep = {}, error, as, only = subject.name } of ENDPOINTS) {
    if (only !== subject.name) continue
    const apiKey = as === 'approver' ? approver.secret : key.secret
    const options = { tenantId: tenant, apiKey, baseUrl: proxy.url }
    const done = await subject.run({ call, with: filledIn(given, known), options })
    assertHolds(done.error, error, call)
    assertHolds(done.value, filledIn(value, known), call)
    for (const [name, path] of Object.entries(keep)) known[name] = at(done.value, path)
  }
}

const STANDS = await Promise.all(SUBJECTS.map(async (subject) => ({ subject, stand: await standFor(subject) })))
describe('clients', { concurrency: true }, () => {
  for (const { subject, stand } of STANDS) {
    describe(`the ${subject.name} client`, { concurrency: 1 }, () => {
      for (const one of CASES) test(one.name, () => assertCase(subject, stand, one))
      test('every endpoint answers what the service has, and refuses as the service does', () =>
        assertEndpoints(subject, stand))
    })
  }
})

function at(value: unknown, path: string): unknown {
  return path === ''
    ? value
    : path.split('.').reduce((object, name) => (object as Record<string, unknown>)[name], value)
}

test('the endpoints of the table are all that there are', () => {
  const called = new Set([...ENDPOINTS, ...CASES].map(({ call }) => call))
  assert.deepEqual(
    [...called].filter((name) => !CALL_NAMES.includes(name)),
    [],
  )
  assert.deepEqual(
    CALL_NAMES.filter((name) => !called.has(name)),
    [],
  )
  // decideInTurns, guard, guardTwice, permit, waitForApproval, conversation and sessionCall call others' endpoints.
  // Browsers open and end sessions by themselves: a client with a key has no use for one.
  const forBrowsers = ['openSession', 'endSession']
  const rules = Object.entries<RouteRule>(ROUTES).filter(([id]) => !forBrowsers.includes(id))
  assert.equal(called.size - 7, rules.filter(([, { facade }]) => facade === undefined).length)
})
