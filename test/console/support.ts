import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { faultsOf } from '../browser.ts'
import type { Gate } from '../helpers.ts'
import { FULL } from '../tier.ts'
import { HANGS_MS, until } from '../until.ts'

type Key = Parameters<Gate['call']>[0]

export interface Opened {
  page: Page
  /** Faults of the page, which none of our pages may have. */
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
  context.setDefaultTimeout(HANGS_MS)
  const page = await context.newPage()
  const faults = faultsOf(page, gate.server.url)
  await page.goto(gate.server.url + address)
  return { page, faults }
}

/** Waits for a title of the tab, which follows the page that it is of. */
export async function untilTitled(page: Page, title: string): Promise<void> {
  await until(`the title ${title}`, async () => (await page.title()) === `${title} · gate-sidecar`)
}

/** The address as the page has it now: `page.url()` may hear of a change later. */
export async function addressOf(page: Page): Promise<URL> {
  return new URL(await page.evaluate<string>('location.href'))
}

/** Against WCAG 2.2 AA, and what else is good practice. */
const EVERY_RULE = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} as const
/** The rules whose result depends on colours, which are all that another scheme changes. */
const COLOR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const

/** Violations that axe finds on the page as it is, one line each. */
export async function barriersOf(
  page: Page,
  runOnly: typeof EVERY_RULE | typeof COLOR_RULES = EVERY_RULE,
): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const run = `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })})`
  const { violations } = await page.evaluate<axe.AxeResults>(`${run}.then(({ violations }) => ({ violations }))`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/** Faults that come of an answer that is a refusal, or did not come. */
export const REFUSED = /^error: Failed to load resource|^failed: /

const scanned = new Set<string>()

/**
 * Asserts that the page did nothing forbidden, but for what the test provokes, and that axe finds nothing, light and
 * dark. In the fast tier axe looks at each page once, in the full one at each state of it.
 */
export async function assertSound({ page, faults }: Opened, provoked?: RegExp): Promise<void> {
  const [, , name = ''] = new URL(page.url()).pathname.split('/')
  if (FULL || !scanned.has(name)) {
    scanned.add(name)
    await page.emulateMedia({ colorScheme: 'light' })
    assert.deepEqual(await barriersOf(page), [], 'light')
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await barriersOf(page, COLOR_RULES), [], 'dark')
  }
  assert.deepEqual(
    faults.filter((fault) => !provoked?.test(fault)),
    [],
  )
}
