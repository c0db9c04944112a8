import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { type About, type Fleet, MAX_NAME } from '../../src/store/fleet.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import { START_MS } from './drafts.ts'

const [FIRST, SECOND] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`]
/** Longer than the interval of renewals. */
const RENEWED_MS = 2100

type Opened = Store & { fleet: Fleet }

async function scene(t: TestContext) {
  const url = await postgresDatabase(t)
  const sealKeys = sealKeysAt(join(temporaryFolder(), 'signing-key.pem'))
  const open = async (about: Partial<About> = {}): Promise<Opened> => {
    const whole = { name: 'a', version: '1.0.0', startedMs: START_MS, ...about }
    const store = await openServerStore({ address: { url }, clock: Date.now, sealKeys, lanes: true, about: whole })
    t.after(() => store.close())
    return { ...store, fleet: store.fleet ?? assert.fail() }
  }
  const query = async (text: string) => (await withClient(url, (client) => client.query(text))).rows
  return { url, open, query }
}

/** Renews the leases, as services do all the time. */
async function renewed(...stores: Store[]): Promise<void> {
  await sleep(RENEWED_MS)
  await Promise.all(stores.map((store) => store.refresh()))
}

test('sidecars see each other by name, version, start and the digest of one tenant', async (t) => {
  const { open } = await scene(t)
  const [a, b] = [await open({ name: 'pod-a' }), await open({ name: 'pod-b', version: '2.0.0' })]
  a.fleet.tell(
    new Map([
      ['acme', FIRST],
      ['other', SECOND],
    ]),
  )
  b.fleet.tell(new Map([['acme', SECOND]]))
  await renewed(a, b)
  const seen = (await b.fleet.sidecars('acme')).map(({ heardMs, ...told }) => {
    assert.ok(Math.abs(heardMs - Date.now()) < 60_000, String(heardMs))
    return told
  })
  const both = { startedMs: START_MS, isLive: true }
  assert.deepEqual(seen, [
    { ...both, lane: 1, name: 'pod-a', version: '1.0.0', isSelf: false, policyDigest: FIRST },
    { ...both, lane: 2, name: 'pod-b', version: '2.0.0', isSelf: true, policyDigest: SECOND },
  ])
  assert.deepEqual(
    (await b.fleet.sidecars('other')).map(({ policyDigest }) => policyDigest),
    [SECOND, null],
  )
  assert.deepEqual([a.fleet.live(), b.fleet.live()], [2, 2])
})

test('a row has the policies once they change, and a renewal leaves them as they are', async (t) => {
  const { open, query } = await scene(t)
  const a = await open()
  a.fleet.tell(new Map([['acme', FIRST]]))
  await renewed(a)
  await query(`UPDATE gate.sidecar SET policies = '{"acme": "kept"}'`)
  a.fleet.tell(new Map([['acme', FIRST]]))
  await renewed(a)
  assert.deepEqual(await query('SELECT policies FROM gate.sidecar'), [{ policies: { acme: 'kept' } }])
  // What is none is no digest to anybody.
  assert.equal((await a.fleet.sidecars('acme'))[0]?.policyDigest, null)
  a.fleet.tell(new Map([['acme', SECOND]]))
  await renewed(a)
  assert.equal((await a.fleet.sidecars('acme'))[0]?.policyDigest, SECOND)
})

test('a sidecar that lost its lane tells all anew in the next one', async (t) => {
  const { open, query } = await scene(t)
  const a = await open({ name: 'pod-a' })
  a.fleet.tell(new Map([['acme', FIRST]]))
  await renewed(a)
  await query("UPDATE gate.sidecar SET expires_at = now() - interval '1 second'")
  const b = await open({ name: 'pod-b' })
  assert.deepEqual(
    (await b.fleet.sidecars('acme')).map(({ name, policyDigest }) => [name, policyDigest]),
    [['pod-b', null]],
  )
  await renewed(a, b)
  await renewed(a, b)
  assert.deepEqual(
    (await b.fleet.sidecars('acme')).map(({ name, policyDigest }) => [name, policyDigest]),
    [
      ['pod-b', null],
      ['pod-a', FIRST],
    ],
  )
})

test('one that is not heard of is dead, listed for an hour, and then left out', async (t) => {
  const { open, query } = await scene(t)
  const [a] = [await open(), await open()]
  const dead = (since: string) =>
    query(`UPDATE gate.sidecar SET expires_at = now() - interval '${since}' WHERE lane = 2`)
  const life = async () => (await a.fleet.sidecars('acme')).map(({ isLive }) => isLive)
  assert.deepEqual(await life(), [true, true])
  await dead('1 second')
  assert.deepEqual(await life(), [true, false])
  await dead('59 minutes')
  assert.deepEqual(await life(), [true, false])
  await dead('61 minutes')
  assert.deepEqual(await life(), [true])
  await renewed(a)
  assert.equal(a.fleet.live(), 1)
})

test('tenants are divided when live sidecars have different policies for them, or none', async (t) => {
  const { open, query } = await scene(t)
  const [a, b] = [await open(), await open()]
  const tell = async (ofA: Record<string, string>, ofB: Record<string, string>) => {
    a.fleet.tell(new Map(Object.entries(ofA)))
    b.fleet.tell(new Map(Object.entries(ofB)))
    await renewed(a, b)
    return a.fleet.divided(10)
  }
  assert.deepEqual(await tell({}, {}), [])
  assert.deepEqual(await tell({ acme: FIRST }, { acme: FIRST }), [])
  const both = [
    { digest: FIRST, sidecars: 1 },
    { digest: SECOND, sidecars: 1 },
  ]
  assert.deepEqual(await tell({ acme: FIRST, other: FIRST }, { acme: SECOND, other: FIRST }), both)
  assert.deepEqual(await a.fleet.divided(1), both.slice(0, 1))
  assert.deepEqual(await tell({ acme: FIRST }, {}), both.slice(0, 1))
  await query('UPDATE gate.sidecar SET expires_at = now() WHERE lane = 2')
  assert.deepEqual(await a.fleet.divided(10), [])
})

const HOSTILE = {
  HTML: ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  'control characters': ['a\0b\u001b[31m\u202ec\nd', 'a\\u{0}b\\u{1b}[31m\\u{202e}c d'],
  'half a character': ['a\ud800b', 'a\ufffdb'],
  SQL: ["'); DROP TABLE gate.sidecar; --", "'); DROP TABLE gate.sidecar; --"],
  '10 kB': ['x'.repeat(10_000), `${'x'.repeat(MAX_NAME - 1)}…`],
  'wide characters': ['😀'.repeat(5000), `${'😀'.repeat(MAX_NAME - 1)}…`],
} as const
for (const [what, [name, shown]] of Object.entries(HOSTILE)) {
  test(`a name is one short line of visible text: ${what}`, async (t) => {
    const a = await (await scene(t)).open({ name, version: name })
    assert.deepEqual(
      (await a.fleet.sidecars('acme')).map((one) => [one.name, one.version]),
      [[shown, shown]],
    )
  })
}
