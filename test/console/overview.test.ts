import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { startGate } from '../helpers.ts'
import { askThirteen, figure, section } from './overview-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const gate = await startGate({ after }, { watch: 'off' })
const owner = await gate.key({ identity: 'olga' })
const ann = await gate.key({ roles: ['approver'], identity: 'ann' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })

test('the figures are those of what was decided, and each leads to what it counts', async () => {
  await askThirteen(gate, agent, ann)
  const opened = await openConsole(browser, gate, owner, 'overview')
  const { page } = opened
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.match(await seenIn(figure(page, 'Decisions')), /13$/)
  assert.match(await seenIn(figure(page, 'Denied')), /23\.1%\s+3 decisions$/)
  assert.match(await seenIn(figure(page, 'Needs approval')), /23\.1%\s+3 decisions$/)
  assert.match(await seenIn(figure(page, 'Pending')), /\b1\s+oldest .* ago|just now, next deadline: 29 min/)
  assert.match(await seenIn(figure(page, 'Latency')), / ms\s+99th percentile [\d.,]+ ms, of 13 checks/)
  const ended = await seenIn(section(page, 'How approvals ended'))
  assert.match(ended, /Approved\s+1\s+Rejected\s+1\s+Expired\s+0\s+Cancelled\s+0\s+Waiting time, median/)
  const denials = section(page, 'Denials by rule')
  assert.match(await seenIn(denials), /huge\s+2\s+no rule: default\s+1/)
  await assertSound(opened)
  const to = await denials.getByRole('link', { name: 'huge' }).getAttribute('href')
  assert.match(
    to ?? '',
    /^\/console\/@acme\/decisions\?rule=huge&whole=yes&decision=deny&decidedBy=deny_rule&from=\d{4}-/,
  )
  for (const link of await page.locator('main').getByRole('link').all()) {
    const { height = 0 } = (await link.boundingBox()) ?? {}
    assert.equal(height >= 24, true, `${await seenIn(link)} is ${height} px high`)
  }
  const counted: [link: Locator, rows: number][] = [
    [denials.getByRole('link', { name: 'no rule: default' }), 1],
    [figure(page, 'Needs approval').getByRole('link'), 3],
    [figure(page, 'Denied').getByRole('link'), 3],
    [page.locator('.legend').getByRole('link', { name: 'Allowed' }), 7],
    [figure(page, 'Decisions').getByRole('link'), 13],
  ]
  for (const [link, rows] of counted) {
    await link.click()
    await page.getByText(`${rows} ${rows === 1 ? 'decision' : 'decisions'}, all there are.`).waitFor()
    await page.goBack()
  }
  // An entry is a vote, of which an approval may need several.
  assert.equal(await section(page, 'How approvals ended').getByRole('link', { name: 'Approved' }).count(), 0)
  await section(page, 'How approvals ended').getByRole('link', { name: 'Rejected' }).click()
  await page.getByText('1 entry, all there are.').waitFor()
  await page.goBack()
  await figure(page, 'Pending').getByRole('link', { name: '1' }).click()
  await page.waitForURL('**/console/*/approvals')
  await page.goBack()
  await denials.getByRole('link', { name: 'huge' }).click()
  await page.getByRole('table', { name: 'Decisions, newest first' }).waitFor()
  assert.equal(await page.locator('tbody tr').count(), 2)
})
