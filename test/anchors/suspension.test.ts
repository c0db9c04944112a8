import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { anchorLine, parseAnchor } from '../../src/evidence/anchor.ts'
import { ACME_POLICY, type Cleanup, type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { checks, deleted, forked, live, newScene, rolledBack, type Scene, start, withoutTenant } from './scenes.ts'
import { anchored, keptLog, linesOf, metricsOf, readiness } from './support.ts'

interface Asked {
  status: number
  error: unknown
  message: string
}

async function ask(
  gate: Gate,
  secret: string,
  path = '/gate/check',
  body: object = { action: 'email.send' },
): Promise<Asked> {
  const answer = await gate.call({ secret, tenant: 'acme' }, 'POST', path, { tenantId: 'acme', ...body })
  return { status: answer.status, error: answer.body.error, message: answer.body.message }
}

interface Case {
  name: string
  scene: (t: Cleanup) => Promise<Scene>
  status: 'ROLLBACK' | 'FORK'
  told: RegExp[]
}

const CASES: Case[] = [
  {
    name: 'an old backup was put back',
    scene: rolledBack,
    status: 'ROLLBACK',
    told: [/^ROLLBACK: audit chain acme\/live has \d+ entries and its anchor \d+; the newest entries are missing$/],
  },
  {
    name: 'another history of the same length, signed with the stolen key',
    scene: forked,
    status: 'FORK',
    told: [
      /^FORK: audit chain acme\/live has (\d+) entries and its anchor \1; its entries are not those of the anchor$/,
    ],
  },
  {
    name: 'the data folder was deleted',
    scene: deleted,
    status: 'FORK',
    told: [
      /^FORK: audit chain acme\/live has 0 entries and its anchor \d+; the anchor is of another instance$/,
      /^FORK: audit chain _system/,
    ],
  },
  {
    name: 'the chain of one tenant was dropped',
    scene: withoutTenant,
    status: 'ROLLBACK',
    told: [/^ROLLBACK: audit chain other\/live has 0 entries and its anchor \d+; the newest entries are missing$/],
  },
]

for (const { name, scene, status, told } of CASES) {
  test(`${status}: ${name}. Nothing is written, reads work, and it is told`, async (t) => {
    const left = await scene(t)
    const before = readFileSync(left.anchorFile, 'utf8')
    const { log, lines } = keptLog()
    const gate = await start(t, left, { log })
    const [line] = lines.filter(({ level, msg }) => level === 'error' && String(msg).includes('nothing is written'))
    assert.ok(line)
    const discrepancies = line.discrepancies as string[]
    for (const wanted of told)
      assert.equal(
        discrepancies.some((one) => wanted.test(one)),
        true,
        discrepancies.join('\n'),
      )
    const ready = await readiness(gate)
    assert.deepEqual([ready.status, ready.error], [503, 'not_ready'])
    assert.match(ready.message, new RegExp(`^${status}: .*gate-sidecar audit restore`))
    assert.doesNotMatch(ready.message, /acme|other\//)
    await assert.rejects(gate.key(), { code: 'audit_unavailable' })
    const lengths = async () => [...(await gate.server.store.lengths(await gate.server.store.chains()))]
    const entries = await lengths()
    await sleep(2500)
    assert.deepEqual(await lengths(), entries)
    assert.equal(readFileSync(left.anchorFile, 'utf8'), before)
    assert.equal((await fetch(`${gate.server.url}/healthz`)).status, 200)
    assert.match(await metricsOf(gate), /^gate_sidecar_audit_chain_faults 0$/m)
  })
}

test('a check is refused and says why, a read is answered', async (t) => {
  const { secret, ...scene } = await rolledBack(t)
  const gate = await start(t, scene)
  const { status, error, message } = await ask(gate, secret)
  assert.deepEqual([status, error], [503, 'audit_unavailable'])
  assert.match(message, /^ROLLBACK: audit chain \S+ has \d+ entries and its anchor \d+; .*gate-sidecar audit restore/)
  const denied = await ask(gate, secret, '/gate/check', { action: 'not.known' })
  assert.deepEqual([denied.status, denied.error], [503, 'audit_unavailable'])
  const list = await gate.call({ secret, tenant: 'acme' }, 'GET', '/audit/chain')
  assert.equal(list.status, 200)
  assert.equal(list.body.data.length > 0, true)
  assert.equal((await gate.call({ secret, tenant: 'acme' }, 'GET', '/killswitch/status')).status, 200)
})

test('a stop acts at once, and is on disk when writing goes on', async (t) => {
  const { secret, ...scene } = await rolledBack(t)
  const gate = await start(t, scene)
  const request = { level: 'L3', reason: 'odd', triggeredBy: 'ann' }
  const stopped = await gate.call({ secret, tenant: 'acme' }, 'POST', '/killswitch/trigger', request)
  assert.deepEqual([stopped.status, stopped.body.data.active, stopped.body.data.persisted], [200, true, false])
  // The anchors are made to agree again: those before the rollback are the newest lines.
  for (const line of agreeing(scene)) appendFileSync(scene.anchorFile, `${line}\n`)
  await until('it writes again', async () => (await readiness(gate)).status === 200)
  const { status, error } = await ask(gate, secret)
  assert.deepEqual([status, error], [200, undefined])
  assert.equal(gate.server.store.imposed().length, 0)
})

/** The lines of the first life, which the backup has. */
function agreeing({ anchorFile }: Scene): string[] {
  const first = new Map<string, string>()
  for (const [n, line] of linesOf(anchorFile).entries()) {
    const [chain = ''] = anchored(anchorFile)[n]?.split(' ') ?? []
    if (!first.has(chain)) first.set(chain, line)
  }
  return [...first.values()]
}

test('a chain of others is not named to who asks', async (t) => {
  const scene = await withoutTenant(t)
  const [line = ''] = linesOf(scene.anchorFile).filter((one) => one.includes('/other/live'))
  assert.notEqual(line, '')
  const gate = await start(t, scene)
  await assert.rejects(gate.server.store.commit({ guards: [], writes: [], entries: [] }), (error) => {
    assert.match(String(error), /ROLLBACK: an audit chain contradicts its anchor/)
    assert.doesNotMatch(String(error), /other/)
    return true
  })
})

test('a policy that changed since the backup does not keep the service from starting, and comes into force afterwards', async (t) => {
  for (const watch of ['on', 'off'] as const) {
    const { secret, ...scene } = await rolledBack(t)
    const policies = { 'acme/main.yaml': ACME_POLICY.replace('Mail is fine.', 'Mail is good.') }
    const gate = await start(t, scene, { policies, watch })
    assert.equal((await readiness(gate)).status, 503)
    for (const line of agreeing(scene)) appendFileSync(scene.anchorFile, `${line}\n`)
    await until('it writes again', async () => (await readiness(gate)).status === 200)
    await until('it allows', async () => {
      const answer = await gate.call({ secret, tenant: 'acme' }, 'POST', '/gate/check', {
        tenantId: 'acme',
        action: 'email.send',
      })
      return answer.body.data.reason === 'Mail is good.'
    })
  }
})

test('anchors that are taken away settle nothing', async (t) => {
  const scene = await rolledBack(t)
  const gate = await start(t, scene)
  renameSync(scene.anchorFile, `${scene.anchorFile}.away`)
  await sleep(3000)
  assert.equal((await readiness(gate)).status, 503)
  renameSync(`${scene.anchorFile}.away`, scene.anchorFile)
  await sleep(1500)
  assert.equal((await readiness(gate)).status, 503)
})

test('a file that cannot be read at the start is compared with before the first line is put there', async (t) => {
  const scene = await rolledBack(t)
  const text = readFileSync(scene.anchorFile, 'utf8')
  const folder = newScene()
  const gate = await startGate(t, { dir: scene.dir, settings: { anchorFile: folder.dir } })
  assert.equal((await readiness(gate)).status, 200)
  assert.equal((await readiness(gate)).anchors.sinks[0].ok, false)
  await gate.server.close()
  // The same place, which has become readable by now.
  const link = `${folder.anchorFile}.link`
  symlinkSync(folder.dir, link)
  const again = await startGate(t, { dir: scene.dir, settings: { anchorFile: link } })
  unlinkSync(link)
  writeFileSync(link, text)
  await until('it is found', async () => (await readiness(again)).status === 503)
  assert.equal(readFileSync(link, 'utf8'), text)
})

const STRANGE: [name: string, change: (line: string) => string][] = [
  ['of another instance', (line) => line.replace(/gate-[0-9a-f]{20}/g, `gate-${'0'.repeat(20)}`)],
  [
    'that says another size under the same signature',
    (line) => {
      const anchor = parseAnchor(line)
      assert.ok(anchor)
      return anchorLine({ ...anchor, checkpoint: anchor.checkpoint.replace(/\n(\d+)\n/, '\n1\n') })
    },
  ],
]
for (const [name, change] of STRANGE) {
  test(`FORK: the newest line of a chain is one ${name}`, async (t) => {
    const scene = newScene()
    await live(t, scene, checks(2))
    appendFileSync(scene.anchorFile, `${change(linesOf(scene.anchorFile).at(-1) ?? '')}\n`)
    const gate = await start(t, scene)
    const { status, message } = await readiness(gate)
    assert.equal(status, 503)
    assert.match(message, /^FORK/)
  })
}

test('lines that hold no anchor are skipped, counted, and told', async (t) => {
  const scene = newScene()
  await live(t, scene, checks(2))
  appendFileSync(scene.anchorFile, 'x\n{"at":\n')
  const { log, lines } = keptLog()
  const gate = await start(t, scene, { log })
  assert.equal((await readiness(gate)).status, 200)
  const told = lines.filter(({ msg }) => String(msg).startsWith('skipped lines of the anchor file'))
  assert.deepEqual(
    told.map((line) => [line.level, line.lines]),
    [['warn', 2]],
  )
})

test('a trail that has only grown since its anchors is as it should be', async (t) => {
  const scene = newScene()
  await live(t, scene, checks(2))
  await live(t, { ...scene, anchorFile: newScene().anchorFile }, checks(3))
  const gate = await start(t, scene)
  assert.equal((await readiness(gate)).status, 200)
})
