import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { repeatingTasks } from '../src/service/repeat.ts'

/** Returns the failures reported of a task whose runs end so, one after the other. */
async function toldOf(runs: readonly (string | undefined)[], before: (run: number) => void = () => undefined) {
  const told: string[] = []
  const tasks = repeatingTasks((error, task) => told.push(`${task}: ${String(error)}`))
  let run = 0
  tasks.every('sweep', 1, async () => {
    before(run)
    const failure = runs[run++]
    if (failure !== undefined) throw new Error(failure)
  })
  while (run < runs.length) await sleep(1)
  await tasks.stop()
  return told
}

test('a failure that goes on is told once, another one and one after a success anew', async () => {
  const told = await toldOf(['full', 'full', 'full', 'gone', 'gone', undefined, 'gone', undefined])
  const full = 'sweep: Error: full'
  const gone = 'sweep: Error: gone'
  assert.deepEqual(told, [full, gone, gone])
})

test('a failure that goes on is told again each minute', async (t) => {
  const now = performance.now.bind(performance)
  let lateMs = 0
  t.mock.method(performance, 'now', () => now() + lateMs)
  const told = await toldOf(Array(9).fill('full'), () => {
    lateMs += 20_000
  })
  assert.equal(told.length, 3)
})

test('what has to be done is tried until it is, and once more by who stops', async () => {
  const tasks = repeatingTasks(() => undefined)
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
  const tasks = repeatingTasks(() => undefined)
  for (let i = 0; i < 20; i += 1) tasks.every(`task ${i}`, 1, async () => undefined)
  await sleep(20)
  await tasks.stop()
  assert.deepEqual(warnings, [])
})
