import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { faultsOf } from '../browser.ts'
import type { Gate } from '../helpers.ts'

type Key = Parameters<Gate['call']>[0]

export interface Opened {
  page: Page
  /** What the page did that no page of ours may do. */
  faults: readonly string[]
}

/** The console at a place, in a browser of its own that is signed in with the key by a link. */
export async function openConsole(
  browser: Browser,
  gate: Gate,
  key: Key,
  place = '',
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const { url } = (await gate.call(key, 'POST', '/session/code')).body.data
  const code = new URL(url).hash
  const opened = await openPage(browser, gate, `/console/${place}${code}`, options)
  await opened.page.locator('header.header').waitFor()
  return opened
}

/** An address of the service, in a browser of its own. */
export async function openPage(
  browser: Browser,
  gate: Gate,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const faults = faultsOf(page, gate.server.url)
  await page.goto(gate.server.url + address)
  return { page, faults }
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds against the rules of WCAG 2.2 AA on the page as it is, one line each. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify({ runOnly: RULES })})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/** What a browser writes to the console for an answer that is a refusal, or did not come. */
export const REFUSED = /^error: Failed to load resource|^failed: /

/** Nothing that no page of ours may do was done, but for what this test provokes, and axe finds nothing, light and dark. */
export async function assertSound({ page, faults }: Opened, provoked?: RegExp): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await barriersOf(page), [], colorScheme)
  }
  assert.deepEqual(
    faults.filter((fault) => !provoked?.test(fault)),
    [],
  )
}
