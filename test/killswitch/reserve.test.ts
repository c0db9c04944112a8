import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLogger, type Logger } from '../../src/service/log.ts'
import { run } from '../cli/program.ts'
import { fileTest, startGate } from '../helpers.ts'
import { entriesOf } from '../http/support.ts'
import { until } from '../until.ts'

const STOP = { level: 'L3', reason: 'odd mail', triggeredBy: 'ann' }
const MAIL = { tenantId: 'acme', action: 'email.send' }

/** A service whose data file can be taken away, so that nothing can be written. */
async function station(t: TestContext, log = createLogger('silent')) {
  const gate = await startGate(t, { log })
  const [owner, agent] = [await gate.key(), await gate.key({ roles: ['agent'] })]
  const file = join(gate.dir, 'data/gate-sidecar.db')
  return {
    gate,
    agent,
    reserve: join(gate.dir, 'data/stops.reserve'),
    away: () => renameSync(file, `${file}.away`),
    back: () => renameSync(`${file}.away`, file),
    trigger: async (at = gate) => (await at.call(owner, 'POST', '/killswitch/trigger', STOP)).body.data,
    again: (log?: Logger) => startGate(t, { dir: gate.dir, ...(log && { log }) }),
    /** Runs a command on the folder. */
    command: (...args: string[]) => run([...args, '--data', join(gate.dir, 'data')]),
  }
}

/** A log, and its lines. */
function listening() {
  const warned: string[] = []
  return { warned, log: createLogger('warn', { write: (line) => void warned.push(line) }) }
}

fileTest(
  'a stop that could not be written outlives a restart: it is in force from the start on, then written once',
  async (t) => {
    const { log, warned } = listening()
    const { gate, agent, away, back, trigger, again } = await station(t, log)
    away()
    const { active, persisted, warning } = await trigger()
    assert.deepEqual([active, persisted], [true, false])
    assert.match(warning, /kept in the reserve/)
    // Kept, so nothing is lost with the process.
    assert.deepEqual(await gate.server.close(), [])
    assert.match(warned.join(''), /"level":"L3","scope":"acme".*stops are kept in the reserve alone/)
    back()
    const second = await again()
    const { decidedBy } = (await second.call(agent, 'POST', '/gate/check', MAIL)).body.data
    assert.equal(decidedBy, 'kill_switch')
    await until('it is on disk', () => second.server.store.imposed().length === 0)
    assert.equal(await entriesOf(second, 'killswitch.triggered'), 1)
    await second.server.close()
    const third = await again()
    assert.equal(await entriesOf(third, 'killswitch.triggered'), 1)
  },
)

fileTest(
  'stops of single actions leave room in the reserve, for other tenants and for stops of whole ones',
  async (t) => {
    const { gate, away, trigger } = await station(t)
    const tenants = ['acme', 'b', 'c', 'd']
    const owners = await Promise.all(tenants.map((tenant) => gate.key({ tenant })))
    away()
    const kept = []
    for (const owner of owners) {
      let count = 0
      for (let n = 0; n < 10; n += 1) {
        const stop = { ...STOP, level: 'L1', scope: `email.n${n}` }
        const { warning } = (await gate.call(owner, 'POST', '/killswitch/trigger', stop)).body.data
        if (/kept in the reserve/.test(warning)) count += 1
        else assert.match(warning, /in this process only/)
      }
      kept.push(count)
    }
    assert.deepEqual(kept, [8, 8, 8, 0])
    assert.match((await trigger()).warning, /kept in the reserve/)
    const lost = await gate.server.close()
    assert.deepEqual(lost.map(({ level, scope }) => [level, scope]).slice(0, 2), [
      ['L1', 'email.n8'],
      ['L1', 'email.n9'],
    ])
    assert.equal(lost.length, 16)
  },
)

const REASON = ['--reason', 'drill']
const BEFORE_THE_START: Record<string, (keyIds: string[]) => string[][]> = {
  'a rotation of the log key': () => [['signing-keys', 'rotate']],
  'two rotations, and the revocation of the first key': ([first = '']) => [
    ['signing-keys', 'rotate'],
    ['signing-keys', 'rotate'],
    ['signing-keys', 'revoke', first, '--since', '2026-01-31T12:00:00Z'],
  ],
  'audit restore': () => [['audit', 'restore', ...REASON]],
}
for (const [what, commandsOf] of Object.entries(BEFORE_THE_START)) {
  fileTest(`a stop of the reserve outlives ${what} while no service runs`, async (t) => {
    const { gate, agent, away, back, trigger, again, command } = await station(t)
    away()
    await trigger()
    await gate.server.close()
    back()
    const logKeys = [...gate.server.store.state().signingKeys.values()].filter(({ purpose }) => purpose === 'log')
    for (const args of commandsOf(logKeys.map(({ id }) => id))) {
      const { code, stdout, stderr } = await command(...args)
      assert.ok(code === 0 || args.includes('restore'), stderr)
      assert.doesNotMatch(stdout, /cannot be read/)
    }
    const second = await again()
    const { decidedBy } = (await second.call(agent, 'POST', '/gate/check', MAIL)).body.data
    assert.equal(decidedBy, 'kill_switch')
    await until('it is on disk', () => second.server.store.imposed().length === 0)
    assert.equal(await entriesOf(second, 'killswitch.triggered'), 1)
  })
}

fileTest('what somebody writes into the reserve without the log key puts nothing in force, and is told', async (t) => {
  const { gate, away, back, trigger, reserve, again, command } = await station(t)
  const { log, warned } = listening()
  away()
  await trigger()
  await gate.server.close()
  back()
  const bytes = readFileSync(reserve)
  bytes.write('x', bytes.indexOf('odd mail'))
  writeFileSync(reserve, bytes)
  const second = await again(log)
  assert.deepEqual(second.server.store.state().switches, [])
  assert.match(warned.join(''), /"unreadable":1.*stops that cannot be read/)
  for (const args of [
    ['killswitch', 'status', '--tenant', 'acme'],
    ['signing-keys', 'rotate'],
  ]) {
    const { stdout } = await command(...args)
    assert.match(stdout, /^WARNING: stops\.reserve has 1 stop that cannot be read/)
  }
})

test('a new reserve has only free slots', async (t) => {
  const { log, warned } = listening()
  await startGate(t, { log })
  assert.doesNotMatch(warned.join(''), /reserve/)
})

const NO_FILES: Record<string, (path: string, other: string) => void> = {
  'a link': (path, other) => symlinkSync(other, path),
  'a link to nothing': (path, other) => symlinkSync(`${other}.none`, path),
  'a folder': (path) => mkdirSync(path),
}
for (const [what, put] of Object.entries(NO_FILES)) {
  fileTest(`${what} in the place of the reserve is not written to, and told`, async (t) => {
    const { gate, reserve, away, back, trigger, again } = await station(t)
    const other = join(gate.dir, 'other.txt')
    await gate.server.close()
    rmSync(reserve)
    writeFileSync(other, 'mine')
    put(reserve, other)
    const { log, warned } = listening()
    const second = await again(log)
    assert.match(warned.join(''), /must be a regular file/)
    away()
    t.after(back)
    assert.match((await trigger(second)).warning, /in this process only/)
    assert.equal(readFileSync(other, 'utf8'), 'mine')
    assert.ok(!existsSync(`${other}.none`))
  })
}

fileTest('a reserve that is removed while the service runs is made anew, with what was kept in it', async (t) => {
  const { gate, agent, reserve, away, back, trigger, again } = await station(t)
  const owner = await gate.key()
  away()
  const mail = { ...STOP, level: 'L1', scope: 'email.*' }
  assert.match((await gate.call(owner, 'POST', '/killswitch/trigger', mail)).body.data.warning, /kept in the reserve/)
  rmSync(reserve)
  await until('it is there again', () => existsSync(reserve))
  rmSync(reserve)
  assert.match((await trigger()).warning, /kept in the reserve/)
  await until('the first is kept again', () => readFileSync(reserve, 'latin1').includes('"scope":"email.*"'))
  assert.deepEqual(await gate.server.close(), [])
  back()
  const second = await again()
  assert.equal((await second.call(agent, 'POST', '/gate/check', MAIL)).body.data.decidedBy, 'kill_switch')
  assert.equal(second.server.store.state().switches.length, 2)
})

fileTest(
  'a stop whose reserve cannot be made anew is kept nowhere, as the answer and the end of the service say',
  async (t) => {
    const { gate, reserve, away, back, trigger } = await station(t)
    const owner = await gate.key()
    away()
    t.after(back)
    const mail = { ...STOP, level: 'L1', scope: 'email.*' }
    await gate.call(owner, 'POST', '/killswitch/trigger', mail)
    rmSync(reserve)
    mkdirSync(reserve)
    assert.match((await trigger()).warning, /in this process only/)
    assert.equal((await gate.server.close()).length, 2)
  },
)

fileTest(
  'a command on the host tells of a stop that only the reserve has, and ends it once it is written',
  async (t) => {
    const { gate, away, back, trigger, again, command } = await station(t)
    const acme = ['--tenant', 'acme']
    away()
    await trigger()
    await gate.server.close()
    back()
    const shown = await command('killswitch', 'status', ...acme)
    assert.equal(shown.code, 1)
    assert.match(shown.stdout, /^L3 acme since \S+ \(kept in the reserve, not in the store yet\): odd mail$/m)
    const early = await command('killswitch', 'recover', ...acme, '--comment', 'over')
    assert.equal(early.code, 3)
    assert.match(early.stderr, /not in the store yet; it can be ended once a service has written it/)
    const second = await again()
    await until('it is on disk', () => second.server.store.imposed().length === 0)
    const ended = await command('killswitch', 'recover', ...acme, '--comment', 'over')
    assert.match(ended.stdout, /^Ended: L3 acme\nNo kill switch is active\.$/m)
  },
)
