import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportBundle } from '../../src/actions/evidence/evidence.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, commit, LIVE, START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { archive, notOk } from './bundles.ts'

/**
 * Limits of evidence (docs/evidence.md#what-a-bundle-proves): a bundle proves what was recorded, not that it was so.
 * The receipts of others have the same limit: aerf-up-11 and aerf-up-12 in receipts.test.ts.
 */

test('that what the caller stated was true is not shown: a bundle of it is valid', async () => {
  const { decide, bundleOf, verify } = await archive()
  // The caller moves 90,000, and says 1, for which nobody is asked.
  const bundle = await bundleOf(await decide(1))
  assert.deepEqual([bundle.decision.decision, verify(bundle).verdict], ['allow', 'valid'])
})

/** A service whose operator records, before anything is signed, what nobody has asked. */
async function lyingService() {
  const trail = await openTrail(temporaryFolder())
  const lie = aDecision('allow', { action: 'payment.transfer' })
  await commit(trail.store, { guards: [], writes: [], entries: [lie] })
  const bundle = await exportBundle(trail, LIVE, lie.decision.id)
  const trust = trustOf(trail.store)
  await trail.close()
  return { verify: (claimed: unknown) => verifyBundle(claimed, { trust, nowMs: START_MS }), bundle }
}

test('that the action was asked about is not shown: what the service made up before it signed is valid', async () => {
  const { verify, bundle } = await lyingService()
  assert.deepEqual([bundle.decision.action, verify(bundle).verdict], ['payment.transfer', 'valid'])
})

test('but the same lie, told after it was signed, is found', async () => {
  const { verify, bundle } = await lyingService()
  const later: Bundle = { ...bundle, decision: { ...bundle.decision, action: 'email.send' } }
  assert.deepEqual(notOk(verify(later)), { signature: 'failed', openings: 'failed' })
})
