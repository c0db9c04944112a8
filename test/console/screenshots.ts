import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { startBrowser } from '../browser.ts'
import { type Day, playDay } from './shop-day.ts'
import { openConsole } from './support.ts'

/** Takes the pictures of README.md and docs/console.md: `npm run screenshots`. */

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const WIDE = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 }
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }

interface Picture {
  name: string
  as: Exclude<keyof Day, 'gate'>
  place: string
  screen?: BrowserContextOptions
  /** Prepares the page before the picture is taken. */
  prepare?: (page: Page) => Promise<void>
}

/** Until nothing is on its way any more. */
async function loaded(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  while ((await page.locator('.loading').count()) > 0) await page.waitForTimeout(50)
  await page.waitForTimeout(300)
}

const open = (name: string) => async (page: Page) => page.getByRole('link', { name }).first().click()

const PICTURES: readonly Picture[] = [
  { name: 'overview', as: 'owner', place: 'overview' },
  { name: 'overview-dark', as: 'owner', place: 'overview', screen: { ...WIDE, colorScheme: 'dark' } },
  { name: 'approvals', as: 'ann', place: 'approvals', prepare: open('payment.transfer') },
  { name: 'approvals-phone', as: 'ann', place: 'approvals', screen: PHONE },
  { name: 'kill-switch-phone', as: 'operator', place: 'kill-switch', screen: PHONE },
  {
    name: 'decision',
    as: 'auditor',
    place: 'decisions?decision=require_approval',
    prepare: open('payment.transfer'),
  },
  { name: 'policies', as: 'auditor', place: 'policies/source?file=payments.yaml&line=66' },
  { name: 'api-keys', as: 'owner', place: 'settings/api-keys' },
]

mkdirSync(FOLDER, { recursive: true })
const cleanups: (() => void | Promise<void>)[] = []
const cleanup = { after: (work: () => void | Promise<void>) => void cleanups.unshift(work) }
try {
  const day = await playDay(cleanup)
  const browser = await startBrowser(cleanup)
  const wanted = process.argv.slice(2)
  for (const { name, as, place, screen = WIDE, prepare } of PICTURES) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const { page } = await openConsole(browser, day.gate, day[as], place, { colorScheme: 'light', ...screen })
    await loaded(page)
    await prepare?.(page)
    await loaded(page)
    await page.screenshot({ path: `${FOLDER}${name}.png` })
    console.log(`docs/images/${name}.png`)
    await page.context().close()
  }
} finally {
  for (const work of cleanups) await work()
}
