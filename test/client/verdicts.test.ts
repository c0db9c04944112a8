import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActionRefused, type ActionRequest, GateClient, type GateOptions, type Permit } from '../../src/client/index.ts'

/* What `permit` said, given to `guard`: an allow is for what was asked, and for one run of that. */

/** The gate allows amounts below 100. */
function scene(options: Partial<GateOptions> = {}) {
  const asked: unknown[] = []
  const recorded: string[] = []
  const answer: typeof fetch = async (url, init) => {
    const { context, action, decisionId, status } = JSON.parse(String(init?.body))
    if (String(url).endsWith('/gate/outcome')) recorded.push(`${decisionId} ${status}`)
    else asked.push(context.amount)
    return Response.json({
      success: true,
      data: {
        decision: context?.amount < 100 ? 'allow' : 'deny',
        decisionId: `dec_${asked.length}`,
        reason: 'Fine.',
        plan: { action },
        timestamp: '2026-01-01T00:00:00.000Z',
        validUntil: '2026-01-01T00:01:00.000Z',
      },
    })
  }
  const ran: string[] = []
  const onObserved = (): void => undefined
  const client = new GateClient({ tenantId: 'acme', apiKey: 'x', fetch: answer, onObserved, ...options })
  const guard = (request: ActionRequest, permit: Permit): Promise<void> =>
    client.guard(request, ({ decision }) => void ran.push(`${decision?.decisionId}`), { permit })
  return { client, asked, recorded, ran, guard }
}
const pay = (amount: unknown, more: object = {}): ActionRequest => ({ action: 'pay', context: { amount, ...more } })

test('an allow starts one run, and each further one is asked about', async () => {
  const { client, guard, ran, asked, recorded } = scene()
  const permit = await client.permit(pay(4))
  await Promise.all([guard(pay(4), permit), guard(pay(4), { ...permit })])
  await guard(pay(4), permit)
  assert.deepEqual(ran.sort(), ['dec_1', 'dec_2', 'dec_3'])
  assert.deepEqual(asked, [4, 4, 4])
  assert.deepEqual(recorded.sort(), ['dec_1 succeeded', 'dec_2 succeeded', 'dec_3 succeeded'])
})

for (const [what, request] of [
  ['a larger amount', pay(99_999)],
  ['another member', pay(4, { to: 'US13' })],
  ['another action', { ...pay(4), action: 'wipe' }],
  ['what cannot be asked about', pay(Number.NaN)],
] as const) {
  test(`an allow is not for ${what}, and on record as not used`, async () => {
    const { client, guard, asked, recorded, ran } = scene()
    const permit = await client.permit(pay(4))
    await guard(request, permit).catch((error) => assert.ok(error instanceof ActionRefused))
    assert.equal(ran.includes('dec_1'), false)
    assert.equal(recorded[0], 'dec_1 not_run')
    assert.equal(asked.length, what === 'what cannot be asked about' ? 1 : 2)
  })
}

test('an allow is for the request as it was sent, whatever became of it since', async () => {
  const { client, guard, ran } = scene()
  const request = pay(4)
  const permitted = client.permit(request)
  Object.assign(request.context as object, { amount: 99_999 })
  await assert.rejects(guard(request, await permitted), ActionRefused)
  assert.deepEqual(ran, [])
})

test('an allow that the gate did not give is none', async () => {
  const { client, guard, ran, asked } = scene()
  const { decision } = await client.permit(pay(4))
  await assert.rejects(guard(pay(500), { decision: { ...decision }, isValid: () => true }), ActionRefused)
  assert.deepEqual([ran, asked], [[], [4, 500]])
})

test('a refusal is thrown, so that no condition takes it for an allow', async () => {
  const { client, asked } = scene()
  await assert.rejects(
    client.permit(pay(500)),
    (error) => error instanceof ActionRefused && error.decision?.decision === 'deny' && error.cause === undefined,
  )
  assert.deepEqual(asked, [500])
})

test('who only watches asks about what was not asked about', async () => {
  const { client, guard, ran, recorded } = scene({ mode: 'observe' })
  const permit = await client.permit(pay(4))
  await guard(pay(4), permit)
  await guard(pay(99_999), permit)
  assert.deepEqual(ran, ['dec_1', 'dec_2'])
  assert.deepEqual(recorded, ['dec_1 succeeded', 'dec_2 succeeded'])
})
