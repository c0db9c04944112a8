import type { Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'

export const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

export async function signInWith(page: Page, secret: string): Promise<void> {
  await page.getByLabel('API key').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** The address of a link that signs in with a key, without the origin. */
export async function linkOf(gate: Gate, key: Parameters<Gate['call']>[0]): Promise<string> {
  const { url } = (await gate.call(key, 'POST', '/session/code')).body.data
  return url.slice(gate.server.url.length)
}
