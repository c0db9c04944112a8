import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { RANGE_STATUSES } from '../../src/client/api.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { archive } from '../evidence/bundles.ts'
import { startGate } from '../helpers.ts'
import { drop, openVerifier, verdictOf, verifierOf } from './bundle-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

// Evidence of one installation, looked at in the console of another: nobody has to trust the service that shows the page.
const elsewhere = await archive()
const gate = await startGate({ after })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })

const decided = await elsewhere.approved('payment.refund', 50)
const bundle = await elsewhere.bundleOf(decided)
const text = JSON.stringify(bundle)
const trust = JSON.stringify(trustFile(elsewhere.trust))

test('the trail says how long it is and what was written last, and a range of it is verified', async () => {
  const logged = { eventType: 'invoice.paid', data: { invoice: 1 } }
  const { id } = (await gate.call(agent, 'POST', '/audit/log', logged)).body.data
  const opened = await openConsole(browser, gate, auditor, `audit?entry=${id}`)
  const { page } = opened
  await page.locator('.entry[open]').getByText('An entry written by a caller.').waitFor()
  const state = page.getByRole('region', { name: 'State' })
  // To have signed in is an entry too, and so is that the service has verified its trail.
  const newest = (await state.getByText(/^session\.started, number/).textContent()) ?? ''
  const [, seq] = /number (\d+),/.exec(newest) ?? []
  await state.getByText(String(Number(seq) + 1), { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await page.getByRole('status').getByText('Valid, not anchored').waitFor()
  const verdict = (await page.locator('.verdict').textContent()) ?? ''
  assert.equal(verdict.includes(`${RANGE_STATUSES.unanchored.slice(1)}.`), true, verdict)
  await assertSound(opened)
})

test('an auditor sees the trail, an agent does not', async () => {
  const { page } = await openConsole(browser, gate, agent, 'audit')
  await page.getByText('Your key may not see Audit.').waitFor()
})

test('a bundle and its trust file, dropped at once, are valid, and nothing is sent anywhere', async () => {
  const there = await openVerifier(gate, auditor)
  const { page } = there
  await verifierOf(page)
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.url()))
  await drop(page, [
    { name: 'a.json', text: trust },
    { name: 'b.json', text },
  ])
  await verdictOf(page).getByText('Valid', { exact: true }).waitFor()
  assert.deepEqual(sent, [])
  await page.getByText('Only the service vouches for the time of the decision.').waitFor()
  assert.equal(await page.getByRole('row').filter({ hasText: 'ok' }).count(), 11)
  const claims = (await page.getByRole('region', { name: 'Claims of the bundle' }).textContent()) ?? ''
  for (const shown of [decided, 'payment.refund', 'acme/live', bundle.proof.origin, 'DE00'])
    assert.equal(claims.includes(shown), true, shown)
  const approval = page.locator('.card', { has: page.getByRole('heading', { name: 'Approval, and the votes' }) })
  assert.match(
    await seenIn(approval),
    /Votes for it: ann and bob, last at .*, for the action payment\.refund, which [\s\S]* asked for\. It needed 2 votes\./,
  )
  assert.match(await seenIn(approval), /Arguments bound\s+sha256:[0-9a-f]{64}/)
  assert.equal(await approval.getByRole('table', { name: 'Votes' }).getByRole('row').count(), 3)
  assert.equal(await approval.locator('.json').first().isVisible(), false)
  await approval.getByText('Content of the entries').click()
  assert.equal(await approval.locator('.json').first().isVisible(), true)
  await assertSound(there)
})

test('what was changed is invalid, and the check that failed is named', async () => {
  const there = await openVerifier(gate, auditor)
  const { page } = there
  const changed = text.replace('"amount":50', '"amount":51')
  assert.notEqual(changed, text)
  await drop(page, [
    { name: 'b.json', text: changed },
    { name: 't.json', text: trust },
  ])
  await page.getByRole('alert').getByText('Invalid', { exact: true }).waitFor()
  await verdictOf(page).getByText('signature: ').waitFor()
  await verdictOf(page).getByText('The request is not what the entry committed to.').waitFor()
  await page.getByText('None of this is proved.').waitFor()
  await assertSound(there)
})
