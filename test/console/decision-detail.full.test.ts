import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { idMaker } from '../../src/base/id.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { run } from '../cli/program.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { decisionsOf } from './decision-support.ts'
import { HOSTILE } from './hostile.ts'
import { browser } from './shared-browser.ts'
import { assertSound, openConsole } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })
const auditor = await gate.key({ roles: ['auditor'], identity: 'audrey' })
const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }

const { ask, detailOf, approvedTransfer } = decisionsOf(gate, { owner, auditor, agent })

test('an approval that a stop cancelled names the stop, which leads to it', async () => {
  const held = await ask(2500)
  assert.equal(
    (await gate.call(owner, 'POST', `/approvals/${held.approvalId}/approve`, { approverId: 'olga' })).status,
    200,
  )
  const stop = { level: 'L1', scope: 'payment.*', reason: 'odd', triggeredBy: 'olga' }
  const { switches } = (await gate.call(owner, 'POST', '/killswitch/trigger', stop)).body.data
  await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'olga', comment: 'fine' })
  const opened = await detailOf(held.decisionId)
  const { page } = opened
  const moment = page.locator('.timeline > .approval-cancelled')
  await moment.getByText('The approval was cancelled by the stop L1 payment.*').waitFor()
  assert.equal(await moment.getByText('by the service').count(), 0)
  assert.equal(await moment.getByRole('link').getAttribute('href'), `/console/@acme/kill-switch/${switches[0].id}`)
  await assertSound(opened)
})

test('the downloaded evidence verifies with the command, without the service', async () => {
  const { used } = await approvedTransfer()
  const { page } = await detailOf(used.decisionId)
  const [downloaded] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download evidence' }).click(),
  ])
  assert.equal(downloaded.suggestedFilename(), `${used.decisionId}.bundle.json`)
  await page.getByText('Bundle downloaded.').waitFor()
  const dir = temporaryFolder()
  const [bundle, trust] = [join(dir, 'bundle.json'), join(dir, 'trust.json')]
  await downloaded.saveAs(bundle)
  writeFileSync(trust, JSON.stringify(trustFile(trustOf(gate.server.store))))
  const verified = await run(['evidence', 'verify', bundle, '--trust', trust])
  assert.deepEqual([verified.code, verified.stderr], [0, ''])
  assert.match(verified.stdout, /^VALID/m)
  assert.equal(JSON.parse(readFileSync(bundle, 'utf8')).decision.id, used.decisionId)
})

test('a refused export says so where it was asked for, and can be asked for again', async () => {
  const { decisionId } = await ask(15)
  const { page } = await detailOf(decisionId)
  await page.route('**/evidence/bundle/**', (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({ success: false, error: 'forbidden', message: HOSTILE[0], requestId: 'req_1' }),
    }),
  )
  await page.getByRole('button', { name: 'Download evidence' }).click()
  await page.locator('.page-head .failure').getByText(HOSTILE[0]).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Download evidence' }).isEnabled(), true)
})

test('a decision that is unknown, another entry, and an erased request are told as what they are', async () => {
  const unknown = await openConsole(browser, gate, auditor, 'decisions/dec_01m7zs4k00nxf1k5rmb7xx9k6t')
  await unknown.page.getByText('There is no such decision.').waitFor()
  const { entries } = { entries: (await gate.call(auditor, 'GET', '/audit/chain?eventType=key.created')).body.data }
  await unknown.page.goto(`${gate.server.url}/console/decisions/${entries[0].id}`)
  await unknown.page.getByRole('link', { name: 'look in the audit trail' }).click()
  await unknown.page.locator('.entry[open]').getByText('A key was made.').waitFor()

  const { decisionId } = await ask(16, { secret: 'of Joe Doe' })
  const { seq } = (await gate.call(auditor, 'GET', `/decisions/${decisionId}`)).body.data
  const range = { chain: 'acme/live', first: seq, end: seq + 1, reason: 'asked for' }
  await redact(deps, { kind: 'host', id: 'host:0' }, range)
  const erased = await detailOf(decisionId)
  await erased.page.getByText('It was erased. The chain still commits to its content.').waitFor()
  await erased.page.getByText('It cannot be explained:').waitFor()
  await assertSound(erased)
})

test('a record that was changed in the file is told loudly', async (t) => {
  const own = await startGate(t)
  const key = await own.key({ roles: ['auditor'] })
  const bot = await own.key({ roles: ['agent'] })
  const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 7 } }
  const { decisionId } = (await own.call(bot, 'POST', '/gate/check', body)).body.data
  tamper(join(own.dir, 'data'), (db) =>
    db.exec(`UPDATE section SET json = replace(json, '"amount":7', '"amount":8') WHERE name = 'request'`),
  )
  const opened = await openConsole(browser, own, key, `decisions/${decisionId}`)
  await opened.page.getByText('This record was altered.').waitFor()
  await opened.page.locator('.badge.deny', { hasText: 'not verified' }).waitFor()
  await assertSound(opened)
})
