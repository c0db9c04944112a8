import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRecorded } from '../e2e/processes.ts'
import { until } from '../until.ts'
import { digestIn, pushedFleet } from './policies.ts'

/** Time within which a pushed set decides everywhere. */
const EVERYWHERE_MS = 2000

test('a pushed set decides on every sidecar within two seconds, and so does the one that is rolled back to', async (t) => {
  const { serve, check, push, run, digest, open } = await pushedFleet(t)
  const sidecars = await Promise.all([serve(), serve()])
  const decides = (at: (typeof sidecars)[number], decision: string, policyDigest: string) => async () => {
    const found = await check(at)
    return found.decision === decision && found.policyDigest === policyDigest
  }
  const everywhere = (decision: string, policyDigest: string) =>
    Promise.all(
      sidecars.map((at) => until(`${decision} everywhere`, decides(at, decision, policyDigest), EVERYWHERE_MS)),
    )
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
