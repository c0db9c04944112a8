import type { Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'

type Key = Awaited<ReturnType<Gate['key']>>

export const ask = async (on: Gate, key: Key, action: string, context: object = {}) =>
  (await on.call(key, 'POST', '/gate/check', { tenantId: key.tenant, action, context })).body.data
export const figure = (page: Page, name: string) =>
  page.locator('.key-figure', { has: page.locator('dt', { hasText: name }) })
export const section = (page: Page, title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })

/** 7 allowed, 3 denied, and 3 held, of which one is approved, one rejected, and one still waits. */
export async function askThirteen(gate: Gate, agent: Key, ann: Key): Promise<void> {
  for (let i = 0; i < 7; i++) await ask(gate, agent, 'payment.transfer', { amount: 10 + i })
  for (let i = 0; i < 2; i++) await ask(gate, agent, 'payment.transfer', { amount: 200_000 })
  await ask(gate, agent, 'db.drop')
  const held = []
  for (const amount of [2000, 3000, 4000])
    held.push((await ask(gate, agent, 'payment.transfer', { amount })).approvalId)
  await gate.call(ann, 'POST', `/approvals/${held[0]}/approve`, { approverId: 'ann' })
  await gate.call(ann, 'POST', `/approvals/${held[1]}/reject`, { approverId: 'ann', reason: 'No.' })
}
