import type { Page } from 'playwright-core'

/** What has the focus, by its label or its text. */
export const focused = (page: Page) =>
  page.evaluate<string>('(document.activeElement.labels?.[0] ?? document.activeElement).textContent')
