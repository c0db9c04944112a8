import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { rotateLogKey } from '../../src/actions/evidence/signing-key-changes.ts'
import { SERVICE } from '../../src/audit/draft.ts'
import { idMaker } from '../../src/base/id.ts'
import { signingKeyFile } from '../../src/files/signing-key.ts'
import { envOf } from '../../src/service/config.ts'
import type { SettingName } from '../../src/service/settings.ts'
import { run } from '../cli/program.ts'
import { type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { postgresDatabase } from '../postgres.ts'
import { settingsFor } from '../store/roles.ts'
import { fullTest } from '../tier.ts'
import { until } from '../until.ts'

const MAIL = { tenantId: 'acme', action: 'email.send' }

/** A store with one sidecar that signs, and the settings of another that has the seal key alone. */
async function scene(t: TestContext) {
  const { signingKey, ...server } = settingsFor(await postgresDatabase(t))
  const signer = await startGate(t, { settings: { ...server, signingKey } })
  const sealKey = join(temporaryFolder(), 'seal-key.json')
  const command = (settings: Partial<Record<SettingName, string>>, ...args: string[]) => {
    const all = { ...server, data: temporaryFolder(), ...settings }
    return run(args, {
      env: Object.fromEntries(Object.entries(all).map(([name, value]) => [envOf(name as SettingName), value])),
    })
  }
  const exported = (out: string) => command({ signingKey }, 'signing-keys', 'export-seal', '--out', out)
  const made = await exported(sealKey)
  assert.equal(made.code, 0, made.stderr)
  return { signer, signingKey, sealKey, made, command, exported, appender: { ...server, sealKey } }
}

async function decided(gate: Gate, agent: Awaited<ReturnType<Gate['key']>>): Promise<string> {
  const { body } = await gate.call(agent, 'POST', '/gate/check', MAIL)
  assert.equal(body.data?.decision, 'allow', JSON.stringify(body))
  return body.data.decisionId
}

test('a sidecar with the seal key alone decides, holds and stops; one with the log key signs all of it', async (t) => {
  const { signer, appender, command } = await scene(t)
  const gate = await startGate(t, { settings: appender })
  const [owner, agent] = [await gate.key({ identity: 'ann' }), await gate.key({ roles: ['agent'] })]
  const decisionId = await decided(gate, agent)
  const stop = { level: 'L3', scope: 'acme', reason: 'drill', triggeredBy: 'ann' }
  assert.equal((await gate.call(owner, 'POST', '/killswitch/trigger', stop)).body.data.persisted, true)
  // It signs nothing, and says so.
  const refused = await gate.call(owner, 'GET', `/evidence/bundle/${decisionId}`)
  assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'])
  assert.match(refused.body.message, /has the seal key alone, and signs nothing/)
  assert.ok(!existsSync(join(gate.dir, 'data', 'signing-key.pem')))
  // The other signs its lane, while it lives and after.
  await until('its lane is signed', async () => (await signer.server.store.lastCheckpoint('acme/live~2')) !== undefined)
  const bundle = await signer.call(owner, 'GET', `/evidence/bundle/${decisionId}`)
  assert.equal(bundle.status, 200, JSON.stringify(bundle.body))
  assert.deepEqual(await gate.server.close(), [])
  await signer.server.close()
  const { sealKey } = appender
  const verified = await command({ sealKey }, 'audit', 'verify')
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
})

fullTest('the fleet tells how many sign: with none, checks go on and the metric says 0', async (t) => {
  const { signer, appender } = await scene(t)
  const gate = await startGate(t, { settings: appender })
  const agent = await gate.key({ roles: ['agent'] })
  const signers = async (): Promise<string | undefined> =>
    /^gate_sidecar_fleet_signers (\d+)$/m.exec((await gate.call(agent, 'GET', '/metrics')).body)?.[1]
  await until('one signs', async () => (await signers()) === '1')
  await signer.server.close()
  await until('none signs', async () => (await signers()) === '0')
  await decided(gate, agent)
})

fullTest(
  'after a rotation of the log key, a sidecar goes on with the seal key that follows from the new one',
  async (t) => {
    const { signer, signingKey, sealKey, exported, appender } = await scene(t)
    const gate = await startGate(t, { settings: appender })
    const agent = await gate.key({ roles: ['agent'] })
    await decided(gate, agent)
    const deps = { store: signer.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
    await rotateLogKey(deps, signingKeyFile(signingKey), SERVICE)
    await until('it lacks the key', async () => (await gate.call(agent, 'POST', '/gate/check', MAIL)).status === 503)
    const next = `${sealKey}.next`
    const made = await exported(next)
    assert.equal(made.code, 0, made.stderr)
    renameSync(next, sealKey)
    await until('it goes on', async () => (await gate.call(agent, 'POST', '/gate/check', MAIL)).status === 200)
    assert.deepEqual(await signer.server.store.unsealed(), [])
  },
)

test('the seal key is written for its owner alone, never over a file, and shown to nobody', async (t) => {
  const { signer, sealKey, made, exported, command } = await scene(t)
  await signer.key()
  const { secret } = JSON.parse(readFileSync(sealKey, 'utf8'))
  assert.equal(statSync(sealKey).mode & 0o777, 0o600)
  assert.ok(!(made.stdout + made.stderr).includes(secret))
  const again = await exported(sealKey)
  assert.deepEqual([again.code, /already exists/.test(again.stderr)], [3, true])
  // What follows from the log key does not lead back to it.
  for (const args of [
    ['signing-keys', 'rotate'],
    ['signing-keys', 'export-seal', '--out', `${sealKey}.2`],
    ['audit', 'restore', '--reason', 'x'],
    ['audit', 'export', '--tenant', 'acme', '--out', join(temporaryFolder(), 'out')],
  ]) {
    const { code, stderr } = await command({ sealKey }, ...args)
    assert.deepEqual([code, /This needs the log key/.test(stderr)], [2, true], `${args.join(' ')}: ${stderr}`)
  }
})

const OTHER_ID = `sha256:${'0'.repeat(64)}`
const SECRET = Buffer.alloc(32, 7).toString('base64')

test('a sidecar starts with the right seal key only', async (t) => {
  const { appender, sealKey, signingKey } = await scene(t)
  const right = readFileSync(sealKey, 'utf8')
  const starts = (settings: object) => startGate(t, { settings: { ...appender, ...settings } })
  const written = [
    [JSON.stringify({ logKey: OTHER_ID, secret: SECRET }), /The seal key is not that of the log key in use, sha256:/],
    ['{', /is not one that `gate-sidecar signing-keys export-seal` wrote/],
    [JSON.stringify({ logKey: OTHER_ID, secret: 'AAAA' }), /is not one that/],
    [JSON.stringify({ logKey: 'x', secret: SECRET }), /is not one that/],
    [JSON.stringify({ logKey: OTHER_ID, secret: `!${SECRET}` }), /is not one that/],
    [JSON.stringify({ logKey: OTHER_ID, secret: SECRET, more: 1 }), /is not one that/],
    [readFileSync(signingKey, 'utf8'), /is not one that/],
  ] as const
  for (const [text, message] of written) {
    writeFileSync(sealKey, text)
    await assert.rejects(starts({}), message, text)
  }
  await assert.rejects(starts({ sealKey: `${sealKey}.none` }), /The seal key .* cannot be read/)
  writeFileSync(sealKey, right)
  await assert.rejects(starts({ signingKey }), /signingKey and sealKey exclude each other/)
  await assert.rejects(starts({ store: undefined, storePassword: undefined }), /sealKey needs store/)
  await (await starts({})).server.close()
})

fullTest('a database without a log key takes no sidecar that has none', async (t) => {
  const { sealKey } = await scene(t)
  const { signingKey: _, ...server } = settingsFor(await postgresDatabase(t))
  const settings = { ...server, sealKey }
  await assert.rejects(startGate(t, { settings }), /No log key is recorded yet/)
})
