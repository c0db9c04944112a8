import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../src/service/log.ts'

function logTo(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: { level: string; msg: string; leftOut?: number; requestId?: string }[] = []
  return { log: createLogger('info', { write: (text) => void lines.push(JSON.parse(text)) }), lines }
}

const MINUTE_MS = 60_000

test('of errors that repeat, the first is written at once, and one a minute with how many were left out', (t) => {
  const { log, lines } = logTo(t)
  const fail = (id: number): void => log.error({ requestId: `req_${id}`, cause: 'disk full' }, 'request failed')
  for (let id = 0; id < 100; id += 1) fail(id)
  assert.deepEqual(
    lines.map(({ requestId, leftOut }) => [requestId, leftOut]),
    [['req_0', undefined]],
  )
  t.mock.timers.tick(MINUTE_MS)
  for (let id = 100; id < 110; id += 1) fail(id)
  t.mock.timers.tick(MINUTE_MS)
  t.mock.timers.tick(MINUTE_MS)
  fail(110)
  assert.deepEqual(
    lines.map(({ requestId, leftOut }) => [requestId, leftOut]),
    [
      ['req_0', undefined],
      ['req_99', 99],
      ['req_109', 10],
      ['req_110', undefined],
    ],
  )
})

test('what differs in more than ids and numbers is another line, and news are never left out', (t) => {
  const { log, lines } = logTo(t)
  for (let i = 0; i < 3; i += 1) {
    log.error({ task: 'sweep', cause: `entry ${i}` }, 'background task failed')
    log.error({ task: 'expire', cause: `entry ${i}` }, 'background task failed')
    log.warn({ task: 'expire', cause: `entry ${i}` }, 'background task failed')
    log.info({}, 'listening')
  }
  assert.equal(lines.filter(({ level }) => level === 'info').length, 3)
  assert.equal(lines.length, 6)
})

test('a log that ends tells what it left out', (t) => {
  const { log, lines } = logTo(t)
  for (let i = 0; i < 5; i += 1) log.warn({}, 'odd')
  log.tellLeftOut()
  log.tellLeftOut()
  assert.deepEqual(
    lines.map(({ leftOut }) => leftOut),
    [undefined, 4],
  )
})

test('a flood of different lines is bounded', (t) => {
  const { log, lines } = logTo(t)
  const word = (i: number): string => i.toString(36).replace(/\d/g, (digit) => String.fromCharCode(65 + Number(digit)))
  for (let i = 0; i < 5000; i += 1) log.error({ cause: word(i) }, 'request failed')
  assert.equal(lines.length, 1001)
})
