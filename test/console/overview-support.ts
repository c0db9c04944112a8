import type { Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'

type Key = Awaited<ReturnType<Gate['key']>>

export const ask = async (on: Gate, key: Key, action: string, context: object = {}) =>
  (await on.call(key, 'POST', '/gate/check', { tenantId: key.tenant, action, context })).body.data
export const figure = (page: Page, name: string) =>
  page.locator('.key-figure', { has: page.locator('dt', { hasText: name }) })
export const section = (page: Page, title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })
