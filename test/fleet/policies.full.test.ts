import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from '../cli/program.ts'
import { assertRecorded, later } from '../e2e/processes.ts'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { withClient } from '../postgres.ts'
import { until } from '../until.ts'
import { fleet } from './fleet.ts'
import { digestIn, pushedFleet } from './policies.ts'

/** A third of a second, on such a machine. */
const LONGEST_PUSH_MS = 15_000

test('a pushed set decides on every sidecar soon, and so does the one that is rolled back to', async (t) => {
  const { serve, check, push, run, digest, open } = await pushedFleet(t)
  const sidecars = await Promise.all([serve(), serve()])
  const decides = (at: (typeof sidecars)[number], decision: string, policyDigest: string) => async () => {
    const found = await check(at)
    return found.decision === decision && found.policyDigest === policyDigest
  }
  const everywhere = (decision: string, policyDigest: string) =>
    Promise.all(sidecars.map((at) => until(`${decision} everywhere`, decides(at, decision, policyDigest))))
  // A sidecar that listens has the set.
  for (const at of sidecars) assert.deepEqual([await decides(at, 'allow', digest)()], [true])

  const denying = await push('denying')
  assert.equal(denying.code, 0, denying.stderr)
  await everywhere('deny', digestIn(denying))
  const back = await run('policies', 'rollback', '--tenant', 'acme', '--json')
  assert.equal(digestIn(back), digest, back.stderr)
  await everywhere('allow', digest)

  await Promise.all(sidecars.map((sidecar) => sidecar.end('SIGTERM')))
  await assertRecorded(await open(), [])
})

test('a text that somebody altered in the database decides nothing, until it is pushed again', async (t) => {
  const { serve, check, push, admin, digest } = await pushedFleet(t)
  const running = await serve()
  const source = `(SELECT source FROM gate.policy_text WHERE digest = '${digest}')`
  const drop = () => withClient(admin, (client) => client.query('DROP FUNCTION IF EXISTS gate.alter_text CASCADE'))
  t.after(drop)
  await withClient(admin, (client) =>
    client.query(`CREATE FUNCTION gate.alter_text() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.source := ${source}; RETURN NEW; END $$;
      CREATE TRIGGER alter_text BEFORE INSERT ON gate.policy_text FOR EACH ROW EXECUTE FUNCTION gate.alter_text()`),
  )
  assert.equal((await push('denying')).code, 0)
  const started = await serve()
  const ready = async ({ url }: typeof running) => (await fetch(`${url}/readyz`)).status
  const none = { decision: 'deny', decidedBy: 'no_policy', policyDigest: null }
  await until('the running sidecar drops its set', async () => (await check(running)).decidedBy === 'no_policy')
  for (const at of [running, started]) assert.deepEqual([await check(at), await ready(at)], [none, 503])

  await drop()
  const again = await push('denying')
  assert.deepEqual([again.code, JSON.parse(again.stdout).changed], [0, true])
  for (const at of [running, started])
    await until('it decides by the set', async () => (await check(at)).policyDigest === digestIn(again))
  assert.deepEqual([await ready(running), await ready(started)], [200, 200])
})

test('sidecars with different folders record each set once, and answer no record of another', async (t) => {
  const { key, serve, open, run } = await fleet(t)
  await key('agent')
  const folders = Array.from({ length: 3 }, (_, i) => {
    const dir = temporaryFolder()
    const more = `  - {id: own${i}, actions: [own], effect: deny, reason: R.}\n`
    writeFiles(dir, { 'acme/main.yaml': `${ACME_POLICY}${more}` })
    return dir
  })
  for (const folder of folders) await serve('--policies', folder)
  const count = async () => JSON.parse((await run('policies', 'history', '--tenant', 'acme', '--json')).stdout).length
  assert.equal(await count(), 3)
  await later(5000)
  assert.equal(await count(), 3)
  await assertRecorded(await open(), [])
})

test('of pushes and rollbacks at once, each is told what came of it, and one entry stands for each that succeeded', async (t) => {
  const { push, run, loads, open } = await pushedFleet(t)
  const rollback = () => run('policies', 'rollback', '--tenant', 'acme', '--json')
  let changes = 1
  for (let round = 0; round < 4; round += 1) {
    for (const ended of await Promise.all([push('allowing'), push('denying'), rollback()])) {
      if (ended.code === 0) changes += Number(JSON.parse(ended.stdout).changed)
      else assert.match(ended.stderr, /^gate-sidecar: (Another set of acme came into force meanwhile|No set of acme)/)
    }
  }
  assert.equal((await loads()).length, changes)
  await assertRecorded(await open(), [])
})

test('a push that is killed at any moment has put the whole set in force, or nothing', async (t) => {
  const { admin, pushArgs, push, loads, open } = await pushedFleet(t)
  const newestText = async () => {
    const query = 'SELECT digest FROM gate.policy_text ORDER BY loaded DESC LIMIT 1'
    return (await withClient(admin, (client) => client.query(query))).rows[0]?.digest
  }
  const outcomes = new Set<boolean>()
  // A busy machine takes longer until a push commits.
  for (let ms = 100; ms < 700 || (outcomes.size < 2 && ms < LONGEST_PUSH_MS); ms *= 1.2) {
    await push('allowing')
    const before = await loads()
    const { stop, ended } = follow(t, pushArgs('denying'))
    await later(ms)
    stop('SIGKILL')
    await ended
    const after = await loads()
    outcomes.add(after.length > before.length)
    assert.ok(after.length - before.length <= 1)
    assert.deepEqual([after[0]?.inForce, await newestText()], [true, after[0]?.digest])
  }
  assert.equal(outcomes.size, 2, 'some came before the commit, and some after it')
  await assertRecorded(await open(), [])
})
