import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { archive, envelopeFor } from '../evidence/bundles.ts'
import { startGate } from '../helpers.ts'
import { type Dropped, drop, openVerifier, verdictOf, verifierOf } from './bundle-support.ts'
import { HOSTILE } from './hostile.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

// Evidence of one installation, looked at in the console of another: nobody has to trust the service that shows the page.
const elsewhere = await archive()
const gate = await startGate({ after })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })

const decided = await elsewhere.approved('payment.refund', 50)
const bundle = await elsewhere.bundleOf(decided)
const text = JSON.stringify(bundle)
const trust = JSON.stringify(trustFile(elsewhere.trust))

const opened = (query = '', options = {}) => openVerifier(gate, auditor, query, options)

test('how long it took is told', async () => {
  const { page } = await opened()
  await drop(page, [
    { name: 'b.json', text },
    { name: 't.json', text: trust },
  ])
  await verdictOf(page).waitFor()
  assert.match((await verdictOf(page).textContent()) ?? '', /checks in \d+ m?s/)
})

test('without a trust file it is incomplete, and how one gets it is said; with it, it is valid', async () => {
  const there = await opened('', PHONE)
  const { page } = there
  await page.getByLabel('Or choose files').setInputFiles({ name: 'b.json', mimeType: '', buffer: Buffer.from(text) })
  await verdictOf(page).getByText('Incomplete').waitFor()
  await verdictOf(page).getByText('gate-sidecar signing-keys export-trust').waitFor()
  await page.getByText('No pinned key vouches for this yet.').waitFor()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  await assertSound(there)
  await page.getByText('Paste text instead').click()
  await page.getByLabel('Bundle, trust file or anchors').fill(trust)
  await page.getByRole('button', { name: 'Use this text' }).click()
  await verdictOf(page).getByText('Valid', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Start again' }).click()
  await verdictOf(page).waitFor({ state: 'detached' })
})

test('one who voted twice is named once, and what an entry does not say is not told', async () => {
  const there = await opened()
  const { page } = there
  const changed = JSON.parse(text)
  for (const { data } of changed.proof.approval) {
    const { changes } = data
    delete changes.unbound
    if (changes.votes) changes.votes.unshift({ ...changes.votes[0], votedAt: '2026-01-01T00:00:00.000Z' })
  }
  await drop(page, [{ name: 'b.json', text: JSON.stringify(changed) }])
  const approval = page.locator('.card', { has: page.getByRole('heading', { name: 'Approval, and the votes' }) })
  assert.match(await seenIn(approval), /Votes for it: ann and bob, last/)
  assert.match(await seenIn(approval), /Not bound\s+not recorded/)
  assert.equal(await approval.getByRole('table', { name: 'Votes' }).getByRole('row').count(), 4)
  await approval.getByText('The keys decide which votes counted, and the bundle does not contain them.').waitFor()
  await assertSound(there)
})

test('an envelope of DSSE is a bundle', async () => {
  const { page } = await opened()
  await drop(page, [
    { name: 'e.json', text: JSON.stringify(envelopeFor(bundle)) },
    { name: 't.json', text: trust },
  ])
  await verdictOf(page).getByText('Valid', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Claims of the bundle' }).getByText(decided).waitFor()
})

test('the bundle of a decision of this service is verified from its page', async () => {
  const there = await openConsole(browser, elsewhere.gate, elsewhere.owner, `decisions/${decided}`)
  const { page } = there
  await page.getByRole('link', { name: 'Verify here' }).click()
  await verdictOf(page).getByText('Incomplete').waitFor()
  await drop(page, [{ name: 't.json', text: trust }])
  await verdictOf(page).getByText('Valid', { exact: true }).waitFor()
})

test('a trust file of another installation vouches for nothing here', async () => {
  const { page } = await opened()
  const other = JSON.stringify(trustFile(trustOf(gate.server.store)))
  await drop(page, [
    { name: 'b.json', text },
    { name: 't.json', text: other },
  ])
  await verdictOf(page).getByText('Incomplete').waitFor()
  await verdictOf(page).getByText('The trust file belongs to another installation').waitFor()
  await drop(page, [{ name: 't.json', text: '{"v":1,"logKeys":"none"}' }])
  await page.getByRole('alert').getByText('The trust file cannot be used').waitFor()
})

const USELESS: [what: string, file: Dropped, told: RegExp][] = [
  ['what is no JSON', { name: 'x.json', text: '{"bundleId": ' }, /It is not JSON/],
  ['other JSON', { name: 'x.json', text: '{"a":1}' }, /not a bundle/],
  ['the manifest of an export', { name: 'manifest.json', text: '{"files":{}}' }, /gate-sidecar evidence verify FOLDER/],
  ['nothing', { name: HOSTILE[0], text: '' }, /It is not JSON/],
]

test('what is of no use is refused with a sentence, and what was given before stays', async () => {
  const there = await opened()
  const { page } = there
  await drop(page, [{ name: 'b.json', text }])
  await verdictOf(page).waitFor()
  for (const [what, file, told] of USELESS) {
    await drop(page, [file])
    const refused = page.locator('.failure').filter({ hasText: told })
    await refused.waitFor()
    assert.equal(await refused.getByText(file.name).count(), 1, what)
    assert.equal(await verdictOf(page).count(), 1)
  }
  await assertSound(there)
})

test('a file over 64 MiB is refused before it is read', async () => {
  const { page } = await opened()
  await page.evaluate(`
    const large = new File([new Uint8Array(65 * 1024 * 1024)], 'large.json')
    large.arrayBuffer = () => Promise.reject(new Error('it was read'))
    const data = new DataTransfer()
    data.items.add(large)
    data.files[0].arrayBuffer = large.arrayBuffer
    dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))
  `)
  await page.getByText('It has 65 MiB. A bundle has at most 64 MiB, so it was not read.').waitFor()
})

test('what only looks like a bundle is invalid: too deep, with a member twice, with text that wants to be run', async () => {
  const there = await opened()
  const { page } = there
  const deep = `{"bundleId":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const twice = text.replace('"version":"1.0"', '"version":"1.0","version":"1.0"')
  const evil = JSON.stringify({ ...bundle, decision: { ...bundle.decision, action: HOSTILE[0] } })
  for (const bad of [deep, twice, evil]) {
    await drop(page, [
      { name: 'b.json', text: bad },
      { name: 't.json', text: trust },
    ])
    await verdictOf(page).getByText('Invalid', { exact: true }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Claims of the bundle' }).count(), 0)
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.locator('.verdict').waitFor({ state: 'detached' })
  }
  assert.equal(await page.locator('main img').count(), 0)
  await assertSound(there)
})

test('it works without the network, once the page is there', async () => {
  const { page } = await opened()
  await verifierOf(page)
  await page.context().setOffline(true)
  await drop(page, [
    { name: 'b.json', text },
    { name: 't.json', text: trust },
  ])
  await verdictOf(page).getByText('Valid', { exact: true }).waitFor()
})

test('a decision without evidence for this key says why', async () => {
  const { page } = await openConsole(
    browser,
    gate,
    auditor,
    'audit/verify-bundle?decision=dec_01m7zs4k00nxf1k5rmb7xx9k6t',
  )
  await page.locator('.failure').getByText('not_found').waitFor()
})
