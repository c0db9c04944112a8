import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { ask, people } from './approvals-support.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const XSS = '<img src=x onerror="globalThis.owned=1">"><script>globalThis.owned=1</script>'
const TRICKS = `${XSS} javascript:globalThis.owned=1 \u202egnp.exe\u202c zero\u200bwidth p\u0430ypal`

/** A policy author's texts are texts of others too. */
const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
approval: {expiresIn: 1h, unbound: ["context.free"]}
thresholds: {requireApproval: 40, deny: 99}
risk:
  - {name: ${JSON.stringify('factor-x')}, actions: ["pay.*"], weight: 75}
rules:
  # <img src=x onerror="globalThis.owned=1">
  - id: hold-all
    actions: ["**"]
    effect: require_approval
    reason: ${JSON.stringify(TRICKS)}
    description: ${JSON.stringify(XSS)}
`

const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY } })

/** As deep as a body may be. */
function deep(levels: number): object {
  return levels === 0 ? { end: XSS } : { [`<b>${levels}</b>`]: deep(levels - 1) }
}

test('hostile texts of agents, policies and voters are shown as what they are, everywhere, and do nothing', async () => {
  const { ann, ben } = await people(gate, 'acme')
  const agent = await gate.key({ tenant: 'acme', roles: ['agent'], identity: XSS })
  const context = {
    text: TRICKS,
    [XSS]: 1,
    free: XSS,
    link: 'javascript:alert(1)',
    nested: deep(24),
    long: 'y'.repeat(100_000),
  }
  const id = await ask(gate, agent, 'pay.all', context, { plan: { [XSS]: [TRICKS] } })
  const other = await ask(gate, agent, 'mail.all', { text: XSS })
  const opened = await openConsole(browser, gate, ann, `approvals/${id}`, { viewport: { width: 1280, height: 800 } })
  const { page } = opened
  await page.getByRole('region', { name: 'Requester' }).waitFor()
  const open = page.getByRole('region', { name: 'Open approval' })
  assert.ok((await open.getByText('<img src=x onerror=').count()) >= 5)
  assert.ok((await open.getByTitle('Invisible or control character U+202E').count()) >= 2)
  assert.ok((await open.getByTitle('Invisible or control character U+200B').count()) >= 2)
  assert.ok((await open.getByTitle('U+0430, which looks like another character').count()) >= 2)
  await open.getByText('99,400 more characters').waitFor()
  assert.equal(await open.locator('a[href^="javascript"], img, script').count(), 0)
  await assertSound(opened)

  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByRole('dialog').getByText('High risk: type').waitFor()
  await assertSound(opened)
  await page.keyboard.press('Escape')
  await page.locator(`[data-id=${other}] input`).check()
  await page.locator(`[data-id=${id}] input`).check()
  await page.getByRole('button', { name: 'Reject… selected' }).click()
  await page.getByRole('dialog', { name: 'Reject 2 selected?' }).waitFor()
  await assertSound(opened)
  await page.keyboard.press('Escape')

  await gate.call(ben, 'POST', `/approvals/${id}/reject`, { approverId: 'ben', reason: TRICKS })
  await open.getByText('Someone has rejected it meanwhile').waitFor()
  await until(
    'the comment',
    async () => (await open.getByRole('region', { name: 'Votes' }).getByText('<img').count()) > 0,
  )
  await assertSound(opened)
  assert.equal(await page.evaluate('globalThis.owned'), undefined)
})

test('an address that is no approval says so, and a hostile one does nothing', async () => {
  const { ann } = await people(gate, 'acme')
  const address = `approvals/${encodeURIComponent(XSS)}?text=${encodeURIComponent(XSS)}&status=${encodeURIComponent(XSS)}`
  const { page } = await openConsole(browser, gate, ann, address, { viewport: { width: 1280, height: 800 } })
  await page.getByText('There is no such approval.').waitFor()
  assert.equal(await page.getByLabel('Search').inputValue(), XSS)
  assert.equal(await page.evaluate('globalThis.owned'), undefined)
})
