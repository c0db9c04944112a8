import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActionRefused, GateClient, GateError } from '../../src/client/index.ts'
import { HANGS_MS } from '../until.ts'

/* What a client makes of answers and of time, and what it does not send: without a gate, with a `fetch` that answers as a test says. */

const REQUEST = { action: 'pay', context: {} }
const ALLOW = {
  decision: 'allow',
  decisionId: 'dec_1',
  reason: 'Fine.',
  plan: { action: 'pay' },
  timestamp: '2026-01-01T00:00:00.000Z',
  validUntil: '2026-01-01T00:01:00.000Z',
}

function clientOf(answer: () => Response) {
  const sent: unknown[] = []
  const fetched: typeof fetch = async (_, init) => {
    sent.push(init?.body)
    return answer()
  }
  return { client: new GateClient({ tenantId: 'acme', apiKey: 'x', fetch: fetched }), sent }
}

const allowing = (): Response => Response.json({ success: true, data: ALLOW })
const hasCode = (code: string) => (error: unknown) => error instanceof GateError && error.code === code

for (const [what, passedMs, shownMs, isValid] of [
  ['no time', 0, 0, true],
  ['less time', 59_000, 59_000, true],
  ['less time, and somebody set the clock back,', 59_000, -3_600_000, true],
  ['all the time', 60_000, 60_000, false],
  ['all the time, and somebody set the clock back,', 60_000, -3_600_000, false],
  ['all the time, which the machine slept,', 1000, 60_000, false],
] as const) {
  test(`an allow of a minute is ${isValid ? '' : 'no longer '}valid when ${what} has passed`, async (t) => {
    const [startMs, startDateMs] = [performance.now(), Date.now()]
    const monotonic = t.mock.method(performance, 'now', () => startMs)
    const wall = t.mock.method(Date, 'now', () => startDateMs)
    const permit = await clientOf(allowing).client.permit(REQUEST)
    monotonic.mock.mockImplementation(() => startMs + passedMs)
    wall.mock.mockImplementation(() => startDateMs + shownMs)
    assert.equal(permit.isValid(), isValid)
  })
}

for (const [what, date, leftMs] of [
  ['at once', '00:00:00', 59_000],
  ['late', '00:00:30', 29_000],
  ['at the last moment', '00:00:59', 0],
  ['by a clock that was set back', undefined, 60_000],
] as const) {
  test(`an allow that the service answers ${what} is no longer than what is left by its own clock`, async (t) => {
    const ms = t.mock.method(performance, 'now', () => 0)
    t.mock.method(Date, 'now', () => 0)
    const dated = date === undefined ? 'Wed, 31 Dec 2025 23:00:00 GMT' : `Thu, 01 Jan 2026 ${date} GMT`
    const answer = (): Response => Response.json({ success: true, data: ALLOW }, { headers: { date: dated } })
    const permit = await clientOf(answer).client.permit(REQUEST)
    const isValidAt = (nowMs: number): boolean => {
      ms.mock.mockImplementation(() => nowMs)
      return permit.isValid()
    }
    assert.deepEqual([isValidAt(leftMs - 1), isValidAt(leftMs)], [leftMs > 0, false])
  })
}

test('the time of an allow runs from the question on, however late the answer comes', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.method(Date, 'now', () => 0)
  const answer = (): Response => {
    nowMs = 60_000
    return Response.json({ success: true, data: ALLOW })
  }
  const permit = await clientOf(answer).client.permit(REQUEST)
  assert.equal(permit.isValid(), false)
})

test('an answer whose date cannot be read allows nothing', async () => {
  const answer = (): Response => Response.json({ success: true, data: ALLOW }, { headers: { date: 'today' } })
  const permit = await clientOf(answer).client.permit(REQUEST)
  assert.equal(permit.isValid(), false)
})

const MIB = 1024 * 1024

/** A stream of so many MiB, in parts of one. Whoever reads it all is told of by `over`. */
function long(mib: number, over: () => void): ReadableStream<Uint8Array> {
  let left = mib
  return new ReadableStream({
    pull(controller) {
      left -= 1
      if (left >= 0) return controller.enqueue(new Uint8Array(MIB).fill(0x20))
      over()
      controller.close()
    },
  })
}

for (const status of [200, 403]) {
  test(`an answer longer than any sidecar gives, with ${status}, is not read to its end`, async () => {
    const { client } = clientOf(() => new Response(long(70, assert.fail), { status }))
    await assert.rejects(client.decide(REQUEST), hasCode('malformed_answer'))
  })
}

test('a long answer is read, and characters that are cut in two by the network too', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ success: true, data: { ...ALLOW, reason: '€'.repeat(MIB) } }))
  const parts = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1000) controller.enqueue(bytes.subarray(at, at + 1000))
        controller.close()
      },
    })
  const { reason } = await clientOf(() => new Response(parts())).client.decide(REQUEST)
  assert.equal(reason, '€'.repeat(MIB))
})

test('an event without an end ends the stream', async () => {
  const headers = { 'content-type': 'text/event-stream' }
  const { client } = clientOf(() => new Response(long(70, assert.fail), { headers }))
  await assert.rejects(client.events({ signal: AbortSignal.timeout(HANGS_MS) }).next(), hasCode('malformed_answer'))
})

for (const [what, value] of [
  ['NaN', Number.NaN],
  ['an infinite number', Number.NEGATIVE_INFINITY],
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['no date', new Date(Number.NaN)],
] as const) {
  test(`${what}, which JSON would leave out, is refused before it is sent`, async () => {
    const { client, sent } = clientOf(allowing)
    for (const context of [{ value }, { list: [[value]] }])
      await assert.rejects(client.decide({ action: 'pay', context }), hasCode('invalid_request'))
    await assert.rejects(client.permit({ action: 'pay', context: { value } }), ActionRefused)
    assert.deepEqual(sent, [])
  })
}

test('what JSON has is sent as it is, and members without a value are not', async () => {
  const { client, sent } = clientOf(allowing)
  await client.decide({ action: 'pay', context: { a: null, b: undefined, c: new Date(0), d: -0.5 } })
  assert.deepEqual(JSON.parse(String(sent[0])), {
    tenantId: 'acme',
    action: 'pay',
    context: { a: null, c: '1970-01-01T00:00:00.000Z', d: -0.5 },
  })
})

for (const value of [Number.NaN, '60', null, true] as unknown[] as number[]) {
  test(`a time that is no number is a mistake, before anything is sent: ${typeof value} ${value}`, async () => {
    const { client, sent } = clientOf(allowing)
    const named = { tenantId: 'acme', apiKey: 'x' }
    assert.throws(() => new GateClient({ ...named, timeout: value }), TypeError)
    for (const asked of [
      client.decide(REQUEST, { wait: value }),
      client.permit(REQUEST, { approvalTimeout: value }),
      client.guard(REQUEST, () => assert.fail('it ran'), { approvalTimeout: value }),
      client.waitForApproval('apr_1', { timeout: value }),
    ])
      await assert.rejects(asked, TypeError)
    assert.deepEqual(sent, [])
  })
}

test('numbers that are none of times or of tries make no client', () => {
  for (const options of [{ timeout: 0 }, { timeout: -1 }, { retries: -1 }, { retries: Number.NaN }])
    assert.throws(() => new GateClient({ tenantId: 'acme', apiKey: 'x', ...options }), TypeError)
})

test('longer than timers take is as long as they take, and less than nothing is nothing', async (t) => {
  const warned = t.mock.method(process, 'emitWarning', () => undefined)
  const held = { ...ALLOW, decision: 'require_approval', approvalId: 'apr_1', validUntil: null }
  const answers = [held, { status: 'approved' }, ALLOW]
  for (const ms of [2 ** 31, 5e9, 30 * 24 * 3_600_000, Number.POSITIVE_INFINITY]) {
    let asked = 0
    const fetched: typeof fetch = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      asked += 1
      return Response.json({ success: true, data: answers[asked - 1] })
    }
    const client = new GateClient({ tenantId: 'acme', apiKey: 'x', timeout: ms, fetch: fetched })
    assert.ok((await client.permit(REQUEST, { approvalTimeout: ms })).isValid())
    assert.equal(asked, 3)
  }
  assert.equal(warned.mock.callCount(), 0)
  const { client } = clientOf(() => Response.json({ success: true, data: held }))
  assert.equal((await client.decide(REQUEST, { wait: -5 })).decisionId, 'dec_1')
  await assert.rejects(client.permit(REQUEST, { approvalTimeout: -5 }), ActionRefused)
})
