import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { readWebhookSecret, UnusableSecret } from '../../src/anchors/secret.ts'
import { readSigningKey } from '../../src/files/signing-key.ts'
import { createLogger } from '../../src/service/log.ts'
import { ACME_POLICY, startGate, temporaryFolder, writeFiles } from '../helpers.ts'

const FILES = ['gate-sidecar.db', 'gate-sidecar.db-wal', 'gate-sidecar.db-shm', 'signing-key.pem']
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const SOMEBODY = 54_321

const modeOf = (path: string): number => statSync(path).mode & 0o7777

/** A data folder as a service leaves it that was killed: with the files beside the database. */
async function leftBehind(t: TestContext): Promise<string> {
  const gate = await startGate(t)
  await gate.key()
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'data'), { mode: 0o700 })
  for (const name of readdirSync(join(gate.dir, 'data'))) cpSync(join(gate.dir, 'data', name), join(dir, 'data', name))
  return dir
}

function log() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: createLogger('warn', stream), lines }
}

test('what every user of the host could read or change is taken from them before it is used, and told of', async (t) => {
  const dir = await leftBehind(t)
  const data = join(dir, 'data')
  const secret = join(dir, 'secret')
  writeFileSync(secret, SECRET)
  const open = [data, ...FILES.map((name) => join(data, name)), secret]
  for (const path of open) assert.ok(existsSync(path), path)
  chmodSync(data, 0o2777)
  for (const path of open.slice(1)) chmodSync(path, 0o666)
  const { log: warnings, lines } = log()
  const settings = { anchorUrl: 'http://127.0.0.1:9/', anchorSecret: secret }
  const gate = await startGate(t, { dir, log: warnings, settings })
  assert.equal(modeOf(data), 0o2770, 'the group and its bit stay: containers share a folder by them')
  for (const path of open.slice(1)) assert.equal(modeOf(path), 0o660, path)
  const told = lines.filter((line) => line.includes('was open to every user')).map((line) => JSON.parse(line).path)
  assert.deepEqual(told.sort(), open.sort())
  await gate.server.close()
  const again = log()
  await (await startGate(t, { dir, log: again.log, settings })).server.close()
  assert.deepEqual(
    again.lines.filter((line) => line.includes('was open')),
    [],
  )
})

test('a folder that others can only list, and files of the group, are left as they are', async (t) => {
  const dir = await leftBehind(t)
  chmodSync(join(dir, 'data'), 0o755)
  for (const name of FILES) chmodSync(join(dir, 'data', name), 0o640)
  await (await startGate(t, { dir })).server.close()
  assert.equal(modeOf(join(dir, 'data')), 0o755)
  assert.equal(modeOf(join(dir, 'data/gate-sidecar.db')), 0o640)
})

const KEPT: [name: string, path: string, what: string][] = [
  ['the folder', 'data', 'The data folder'],
  ['the database', 'data/gate-sidecar.db', 'The data file'],
  ['its log', 'data/gate-sidecar.db-wal', 'The data file'],
  ['the index of its log', 'data/gate-sidecar.db-shm', 'The data file'],
  ['the signing key', 'data/signing-key.pem', 'The signing key'],
  ['the secret of the webhook', 'secret', 'The webhook secret'],
]
for (const [name, path, what] of KEPT) {
  test(`the service does not start on what others can change, and belongs to another user: ${name}`, async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root gives a file away')
    const dir = await leftBehind(t)
    const settings = { anchorUrl: 'http://127.0.0.1:9/', anchorSecret: join(dir, 'secret') }
    writeFileSync(settings.anchorSecret, SECRET)
    chmodSync(join(dir, path), 0o777)
    chownSync(join(dir, path), SOMEBODY, SOMEBODY)
    await assert.rejects(startGate(t, { dir, settings }), ({ name, message }) => {
      assert.equal(name, 'Exposed')
      assert.ok(message.startsWith(`${what} ${join(dir, path)} can be `), message)
      assert.match(message, /by every user; chmod [67]00 it/)
      return true
    })
    assert.equal(modeOf(join(dir, path)), 0o777)
  })
}

test('a folder that is meant for everybody is refused, and stays as it is', async (t) => {
  const dir = await leftBehind(t)
  chmodSync(join(dir, 'data'), 0o1777)
  await assert.rejects(startGate(t, { dir }), /The data folder .* can be written by every user; chmod 700 it, or name/)
  assert.equal(modeOf(join(dir, 'data')), 0o1777)
})

test('commands that read a key or a secret hold to the same rule, through a link too', async (t) => {
  const dir = await leftBehind(t)
  const key = join(dir, 'data/signing-key.pem')
  const secret = join(dir, 'secret')
  writeFileSync(secret, SECRET)
  symlinkSync(secret, join(dir, 'link'))
  for (const path of [key, secret]) chmodSync(path, 0o604)
  assert.ok(readSigningKey(key))
  assert.equal(readWebhookSecret(join(dir, 'link')).byteLength, 32)
  for (const path of [key, secret]) assert.equal(modeOf(path), 0o600)
  if (process.getuid?.() !== 0) return
  for (const path of [key, secret]) {
    chmodSync(path, 0o602)
    chownSync(path, SOMEBODY, SOMEBODY)
  }
  assert.throws(() => readSigningKey(key), /The signing key .* can be read or changed by every user; chmod 600 it/)
  assert.throws(
    () => readWebhookSecret(secret),
    (error: Error) => error instanceof UnusableSecret && !error.message.includes(SECRET.slice(6)),
  )
})

test('policies that every user of the host can write are told of, and decide all the same', async (t) => {
  const dir = temporaryFolder()
  writeFiles(dir, { 'policies/acme/main.yaml': ACME_POLICY, 'policies/acme/lists/l.txt': 'a' })
  const [folder, list] = [join(dir, 'policies/acme'), join(dir, 'policies/acme/lists/l.txt')]
  const told = async (): Promise<unknown> => {
    const { log: warnings, lines } = log()
    await (await startGate(t, { dir, policies: {}, log: warnings })).server.close()
    return lines.map((line) => JSON.parse(line)).find(({ msg }) => /can write policies/.test(msg))
  }
  assert.equal(await told(), undefined)
  chmodSync(list, 0o666)
  const { path, paths } = Object(await told())
  assert.deepEqual([path, paths], [list, 1])
  chmodSync(list, 0o644)
  chmodSync(folder, 0o777)
  assert.equal(Object(await told()).path, folder)
  // Only owners can replace files there.
  chmodSync(folder, 0o1777)
  assert.equal(await told(), undefined)
})
