import type { Page } from 'playwright-core'

/** Returns the label, else the text, of the focused element. */
export const focused = (page: Page) =>
  page.evaluate<string>('(document.activeElement.labels?.[0] ?? document.activeElement).textContent')
