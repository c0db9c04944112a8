import type { Locator, Page } from 'playwright-core'

/** Hostile text that a policy author may write into a reason or a comment. */
export const HOSTILE = `"><img src=x onerror=alert(1)>`

/** The part of a page under a heading. */
export function section(page: Page, title: string): Locator {
  return page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })
}

/** A fault, and the marks under it, as they are drawn. */
export const marksOf = (excerpt: Locator) =>
  excerpt.evaluate((element) => {
    const [line, marked, marks] = ['.excerpt-line', '.marked', '.marks'].map((name) => element.querySelector(name))
    const [at, under] = [marked?.getBoundingClientRect(), marks?.getBoundingClientRect()]
    const frame = element.getBoundingClientRect()
    return {
      before: line?.textContent?.split(marked?.textContent ?? '')[0],
      marked: marked?.firstElementChild?.textContent,
      isUnder:
        at !== undefined && under !== undefined && Math.abs(at.left - under.left) < 1 && under.top >= at.bottom - 1,
      isAsWide: at !== undefined && under !== undefined && Math.abs(at.width - under.width) < 1,
      isSeen: at !== undefined && at.left >= frame.left && at.right <= frame.right,
    }
  })

/** Properties of marks that stand where they should. */
export const UNDER = { isUnder: true, isAsWide: true, isSeen: true }

/** Enters a question and asks it. */
export async function askDryRun(page: Page, action: string, context: string): Promise<void> {
  await page.getByLabel('Action', { exact: true }).fill(action)
  await page.getByLabel('Context (JSON)').fill(context)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
}
