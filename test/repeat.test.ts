import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { repeatingTasks } from '../src/service/repeat.ts'

test('each failure is reported and counted, and what a stop has aborted is none', async () => {
  const stopping = new AbortController()
  const told: string[] = []
  const tasks = repeatingTasks((error, task) => told.push(`${task}: ${String(error)}`), stopping.signal)
  const runs: (() => unknown)[] = [
    () => assert.fail('full'),
    () => undefined,
    () => assert.fail('gone'),
    () => stopping.abort(),
    () => stopping.signal.throwIfAborted(),
  ]
  let run = 0
  tasks.every('sweep', 1, async () => runs[run++]?.())
  tasks.every('rest', 1, async () => undefined)
  while (run < runs.length) await sleep(1)
  await tasks.stop()
  assert.deepEqual(
    told.map((line) => line.split('\n')[0]),
    ['sweep: AssertionError [ERR_ASSERTION]: full', 'sweep: AssertionError [ERR_ASSERTION]: gone'],
  )
  assert.deepEqual(
    [...tasks.failed()],
    [
      ['sweep', 2],
      ['rest', 0],
    ],
  )
})

test('what has to be done is tried until it is, and once more by who stops', async () => {
  const tasks = repeatingTasks(() => undefined, new AbortController().signal)
  let tries = 0
  tasks.untilDone('write', async () => {
    tries += 1
    throw new Error('full')
  })
  await tasks.stop()
  assert.equal(tries, 1)
})

test('many tasks are no warning of a leak', async (t) => {
  const warnings: string[] = []
  const note = (warning: Error) => void warnings.push(warning.message)
  process.on('warning', note)
  t.after(() => void process.off('warning', note))
  const tasks = repeatingTasks(() => undefined, new AbortController().signal)
  for (let i = 0; i < 20; i += 1) tasks.every(`task ${i}`, 1, async () => undefined)
  await sleep(20)
  await tasks.stop()
  assert.deepEqual(warnings, [])
})
