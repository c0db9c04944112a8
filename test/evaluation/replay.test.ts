import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { askOverHttp } from '../../evaluation/ask.ts'
import { readCorpus } from '../../evaluation/corpus.ts'
import { type Ask, type Request, replay } from '../../evaluation/replay.ts'
import { CannotRun, UsageError } from '../../src/cli/context.ts'
import { requestOf } from '../../src/replay/corpus.ts'
import { startGate } from '../helpers.ts'
import { CORPUS, call, session } from './support.ts'

const gate = await startGate({ after })
const { secret } = await gate.key({ roles: ['agent'] })
const other = await gate.key({ tenant: 'empty', roles: ['agent'] })

describe('a request', () => {
  test('tells what a caller can know, and no more', () => {
    const asked = call('1', {
      ...{ order: 4, action: 'payment.transfer', args: { amount: 5 }, effect: 'write', label: 'attack', role: 'goal' },
      ...{ necessary_for_attack: true, context: { tainted: true, prov: { amount: ['model'] } } },
    })
    const prior = Array.from({ length: 30 }, (_, i) => `tool-${i}`)
    assert.deepEqual(requestOf(session([asked]), asked, prior), {
      tenantId: 'a',
      action: 'payment.transfer',
      context: {
        ...{ args: { amount: 5 }, session: 's', step: 4, source: 'a', suite: 'b', effect: 'write' },
        ...{ userRequest: 'Please.', priorActions: prior.slice(10), tainted: true, provenance: { amount: ['model'] } },
      },
    })
  })

  test('has no origins where none were recorded; of tau-bench it has the records', () => {
    const context = { tainted: false, reservation: { cabin: 'economy' } }
    const asked = call('1', { context })
    const { tainted, provenance, record } = requestOf(session([asked], { source: 'tau-bench' }), asked, []).context
    assert.deepEqual({ tainted, provenance, record }, { tainted: false, provenance: {}, record: context })
    assert.ok(!('record' in requestOf(session([asked]), asked, []).context))
    const bare = requestOf(session([call('1')]), call('1'), []).context
    assert.deepEqual([bare.tainted, bare.provenance], [false, {}])
  })

  test('has the same members for every recorded call, so that no label is among them', () => {
    const known = ['args', 'session', 'step', 'source', 'suite', 'effect', 'userRequest', 'priorActions', 'tainted']
    for (const one of readCorpus(CORPUS).sessions) {
      for (const asked of one.calls) {
        const { context, ...rest } = requestOf(one, asked, [])
        assert.deepEqual(Object.keys(rest), ['tenantId', 'action'])
        const own = one.source === 'tau-bench' ? ['record'] : []
        assert.deepEqual(Object.keys(context), [...known, 'provenance', ...own])
      }
    }
  })
})

describe('a replay', () => {
  const sessions = ['x', 'y', 'z'].map((name) =>
    session(
      [0, 1, 2].map((order) => call(`${name}${order}`, { order, action: `${name}.${order}` })),
      { session: name },
    ),
  )
  const allow = { decision: 'allow', rule: 'r', riskScore: 0, status: 200 } as const

  for (const concurrency of [1, 2, 8]) {
    test(`asks each call once, those of a session in order; ${concurrency} at a time`, async () => {
      const asked: Request[] = []
      let [open, most] = [0, 0]
      const ask: Ask = async (request) => {
        asked.push(request)
        open += 1
        most = Math.max(most, open)
        await new Promise((resolve) => setTimeout(resolve, 2))
        open -= 1
        return allow
      }
      const done: number[] = []
      const decided = await replay(sessions, ask, { concurrency, progress: (n) => done.push(n) })
      const names = sessions.flatMap(({ calls }) => calls.map(({ id }) => id))
      assert.deepEqual(
        decided.map(({ id }) => id),
        names,
      )
      assert.equal(asked.length, names.length)
      for (const { session: name } of sessions) {
        const prior = asked.filter(({ context }) => context.session === name).map(({ context }) => context.priorActions)
        assert.deepEqual(prior, [[], [`${name}.0`], [`${name}.0`, `${name}.1`]])
      }
      assert.deepEqual(
        done,
        names.map((_, i) => i + 1),
      )
      assert.equal(most, Math.min(concurrency, sessions.length))
    })
  }

  test('ends with the first call that is not decided', async () => {
    const ask: Ask = async (_, { id }) => {
      if (id === 'y1') throw new CannotRun('no')
      return allow
    }
    await assert.rejects(replay(sessions, ask, { concurrency: 1, progress: () => undefined }), CannotRun)
  })
})

describe('asking over HTTP', () => {
  const asked = call('call-1', { action: 'payment.transfer' })
  const payment = (amount: number, tenantId = 'acme'): Request => ({
    ...{ tenantId, action: 'payment.transfer', context: { amount } },
  })
  const keys = new Map([
    ['acme', [secret]],
    ['empty', [other.secret]],
  ])
  const ask = askOverHttp(gate.server.url, keys)

  test('gives what the service decided', async () => {
    const decisions = []
    for (const amount of [5, 5000, 500_000]) decisions.push((await ask(payment(amount), asked)).decision)
    assert.deepEqual(decisions, ['allow', 'require_approval', 'deny'])
    assert.deepEqual(await ask(payment(0), asked), { decision: 'allow', rule: 'payments', riskScore: 0, status: 200 })
  })

  test('takes a schema that the context does not fit for the denial that it is', async () => {
    assert.equal((await ask({ ...payment(5), context: {} }, asked)).decision, 'deny')
  })

  const REFUSALS: readonly [name: string, ask: () => Promise<unknown>, message: RegExp][] = [
    ['a tenant without policies', () => ask(payment(5, 'empty'), asked), /No policy is in force for the tenant empty/],
    ['no key', () => askOverHttp(gate.server.url, new Map())(payment(5), asked), /about call-1 was 401/],
    ['no tenant', () => ask({ ...payment(5), tenantId: 'Not a tenant' }, asked), /about call-1 was 40\d/],
    ['nobody there', () => askOverHttp('http://127.0.0.1:1', keys)(payment(5), asked), /no answer about call-1/],
  ]
  for (const [name, refused, message] of REFUSALS) {
    test(`is an error and no denial: ${name}`, async () => {
      await assert.rejects(refused, (error) => error instanceof CannotRun && message.test(error.message))
    })
  }

  for (const url of [
    'http://example.com',
    'http://10.0.0.1:4283',
    'https://127.0.0.1',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@example.com',
  ]) {
    test(`sends nothing to ${url}`, () => {
      assert.throws(() => askOverHttp(url, keys), UsageError)
    })
  }
})
