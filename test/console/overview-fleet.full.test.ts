import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { services } from '../fleet/services.ts'
import { ACME_POLICY, type Gate } from '../helpers.ts'
import { withClient } from '../postgres.ts'
import { until } from '../until.ts'
import { section } from './overview-support.ts'
import { seenIn } from './seen.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const CHANGED = ACME_POLICY.replace('Mail is fine.', 'Mail is good.')
const HOSTILE = '"><img src=x onerror=alert(1)>'
const PHONE = { viewport: { width: 390, height: 844 } }

const { start, admin } = await services({ after })
const first = await start({ watch: 'off', settings: { name: 'pod-a' } })
const second = await start({
  watch: 'off',
  policies: { 'acme/main.yaml': CHANGED },
  settings: { name: HOSTILE },
})
const auditor = await first.key({ roles: ['auditor'] })

const digestsAt = async (gate: Gate): Promise<(string | null)[]> => {
  const { body } = await gate.call(auditor, 'GET', '/overview')
  return body.data.fleet.sidecars.map(({ policyDigest }: { policyDigest: string | null }) => policyDigest)
}

test('sidecars with different policies and versions are named above everything else, and listed', async () => {
  await until('both have told of their policies', async () => (await digestsAt(first)).every((one) => one !== null))
  await withClient(admin, (client) => client.query("UPDATE gate.sidecar SET version = '0.9.0' WHERE lane = 2"))
  const opened = await openConsole(browser, first, auditor, 'overview')
  const { page } = opened
  const wrong = await seenIn(page.getByRole('region', { name: 'Current problems' }))
  assert.match(wrong, /Sidecars have different policies\s+The same action may be decided differently/)
  assert.match(wrong, /Sidecars have different versions\s+0\.\d+\.\d+: 1, 0\.9\.0: 1/)
  const rows = section(page, 'Sidecars').locator('tbody tr')
  const [self, other] = await Promise.all([0, 1].map((at) => seenIn(rows.nth(at))))
  const digests = await digestsAt(first)
  assert.match(self ?? '', /pod-a\s+\(answers here\)\s+live/)
  assert.match(other ?? '', /"><img src=x onerror=alert\(1\)>\s+live/)
  for (const [at, row] of [self, other].entries()) assert.ok(row?.includes(digests[at] ?? 'none'), row)
  assert.notEqual(digests[0], digests[1])
  await assertSound(opened)
})

test('sidecars that agree are listed without a notice, on a phone too, and one that ended is dead', async () => {
  await second.server.close()
  const opened = await openConsole(browser, first, auditor, 'overview', PHONE)
  const { page } = opened
  const rows = section(page, 'Sidecars').locator('tbody tr')
  await rows.nth(1).getByText('dead').waitFor()
  assert.equal(await page.getByText('Sidecars have different').count(), 0)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertSound(opened)
})
