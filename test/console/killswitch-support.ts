import type { Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'

export const HOSTILE = '<img src=x onerror="document.title=\'taken\'"> "><script>alert(1)</script> \u202Egnp \u200B'

/** Returns the stops in force, strongest first. */
export async function stopsOf(of: Gate, key: Parameters<Gate['call']>[0]): Promise<[level: string, scope: string][]> {
  const { switches } = (await of.call(key, 'GET', '/killswitch/status')).body.data
  return switches.map(({ level, scope }: { level: string; scope: string }) => [level, scope])
}

export async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text)
}

/** The button that stops. */
export const red = (page: Page) => page.locator('.trigger').getByRole('button', { name: /^Stop/ })
