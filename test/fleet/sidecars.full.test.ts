import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Key, later, post, type Service } from '../e2e/processes.ts'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { withClient } from '../postgres.ts'
import { until } from '../until.ts'
import { fleet } from './fleet.ts'

const HTML = '<script>alert(1)</script>\n\u202e'

interface Seen {
  name: string
  isLive: boolean
  isSelf: boolean
  policyDigest: string | null
}

async function fleetAt({ url }: Service, { key, tenantId }: Key) {
  const answer = await fetch(`${url}/overview`, { headers: { 'x-api-key': key, 'x-tenant-id': tenantId } })
  const { data } = (await answer.json()) as {
    data: { fleet: { live: number; sidecars: Seen[]; policies: { digest: string; sidecars: number }[] } }
  }
  return data.fleet
}

/** Digests in the metrics, and the number of live sidecars. */
async function measured({ url }: Service) {
  const text = await (await fetch(`${url}/metrics`)).text()
  assert.doesNotMatch(text, /acme|globex/)
  const digests = Array.from(
    text.matchAll(/^gate_sidecar_fleet_divided_policies\{digest="(.+)"\} 1$/gm),
    ([, one]) => one,
  )
  return { digests: digests.sort(), live: Number(/^gate_sidecar_fleet_sidecars (\d+)$/m.exec(text)?.[1]) }
}

test('a half-rolled set is seen in the overview and the metrics, and a killed sidecar is dead after its lease', async (t) => {
  const all = await fleet(t)
  const dir = temporaryFolder()
  const globex = ACME_POLICY.replace('tenant: acme', 'tenant: globex')
  const changed = ACME_POLICY.replace('Mail is fine.', 'Mail is good.')
  writeFiles(dir, {
    ...{ 'old/acme/main.yaml': ACME_POLICY, 'old/globex/main.yaml': globex },
    ...{ 'new/acme/main.yaml': changed, 'new/globex/main.yaml': globex },
  })
  const serve = (set: string, name: string) => all.serve('--policies', join(dir, set), '--name', name)
  const auditor = await all.key('auditor')
  const [a, b] = [await serve('old', 'pod-a'), await serve('new', HTML)]

  const told = async () => (await fleetAt(a, auditor)).sidecars.every(({ policyDigest }) => policyDigest !== null)
  await until('both have told of their policies', told)
  const { live, sidecars, policies } = await fleetAt(a, auditor)
  const digests = sidecars.map(({ policyDigest }) => policyDigest).sort()
  assert.equal(new Set(digests).size, 2)
  assert.equal(live, 2)
  assert.deepEqual(policies.map(({ digest }) => digest).sort(), digests)
  assert.deepEqual(
    sidecars.map(({ name, isLive, isSelf }) => [name, isLive, isSelf]),
    [
      ['pod-a', true, true],
      ['<script>alert(1)</script> \\u{202e}', true, false],
    ],
  )
  await until('the metrics have both', async () => {
    const seen = await measured(a)
    return seen.digests.join() === digests.join() && seen.live === 2
  })

  await b.end('SIGKILL')
  const isDead = async () => (await fleetAt(a, auditor)).sidecars[1]?.isLive === false
  await until('it is dead', isDead)
  const left = await fleetAt(a, auditor)
  assert.deepEqual([left.live, left.policies.length, left.sidecars.length], [1, 1, 2])
  await until('the metrics have one', async () => {
    const { digests: divided, live: counted } = await measured(a)
    return divided.length === 0 && counted === 1
  })
})

test('a sidecar that starts waits longer for a lock that others hold than a request does', async (t) => {
  const { serve, key, admin } = await fleet(t)
  const agent = await key('agent')
  const { url } = await withClient(admin, async (client) => {
    await client.query('BEGIN; LOCK TABLE gate.audit_entry IN SHARE MODE')
    const starting = serve()
    await later(12_000)
    await client.query('ROLLBACK')
    return starting
  })
  assert.equal((await post(url, agent, '/gate/check', { action: 'email.send' }))?.status, 200)
})
