import type { Page } from 'playwright-core'
import type { Gate } from '../helpers.ts'
import { until } from '../until.ts'
import { browser } from './shared-browser.ts'
import { type Opened, openConsole } from './support.ts'

export interface Dropped {
  name: string
  text: string
}

export async function openVerifier(
  gate: Gate,
  key: Parameters<Gate['call']>[0],
  query = '',
  options = {},
): Promise<Opened> {
  const there = await openConsole(browser, gate, key, `audit/verify-bundle${query}`, options)
  await there.page.getByText('Drop a bundle and the trust file here').waitFor()
  return there
}

/** As a person does who drags files from the desktop. */
export async function drop(page: Page, files: readonly Dropped[]): Promise<void> {
  const carried = await page.evaluateHandle(`(() => {
    const data = new DataTransfer()
    for (const { name, text } of ${JSON.stringify(files)}) data.items.add(new File([text], name))
    return data
  })()`)
  for (const type of ['dragenter', 'dragover', 'drop'])
    await page.locator('.drop-zone').dispatchEvent(type, { dataTransfer: carried })
}

/** The script that verifies is fetched with the page, before anything is given. */
export const verifierOf = (page: Page) =>
  until('the verifier is here', () =>
    page.evaluate<boolean>("performance.getEntriesByType('resource').some(({ name }) => name.includes('/verify-'))"),
  )

export const verdictOf = (page: Page) => page.getByRole('region', { name: 'Verdict' })
