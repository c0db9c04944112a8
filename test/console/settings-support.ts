import type { Locator, Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'

export const HOSTILE = '<img src=x onerror="document.title=\'taken\'"> "><script>alert(1)</script> \u202Egnp'
export const KEYS = 'settings/api-keys'
export const SECRET = /sk_(live|test)_[0-9A-Za-z]{49}/

export type Key = Awaited<ReturnType<Gate['key']>>

export const rowOf = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) })
export const press = (at: Page | Locator, name: string): Promise<void> => at.getByRole('button', { name }).click()

/** Makes a key over HTTP, as its id and its secret. */
export async function made(gate: Gate, owner: Key, body: object): Promise<Key> {
  const { id, key } = (await gate.call(owner, 'POST', '/keys', { roles: ['agent'], ...body })).body.data
  return { id, secret: key, tenant: owner.tenant }
}

export const works = async (gate: Gate, key: Key): Promise<boolean> =>
  (await gate.call(key, 'GET', '/session')).status === 200

/** The secret that a dialog shows. */
export async function secretIn(page: Page): Promise<string> {
  const [secret = ''] = SECRET.exec((await page.locator('.secret').first().textContent()) ?? '') ?? []
  return secret
}
