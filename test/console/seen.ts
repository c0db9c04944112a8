import type { Locator } from 'playwright-core'

/** The text of a part of the page as a person sees it: without what is hidden, in the lines in which it stands. */
export function seenIn(part: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: the text that is drawn is what is promised
  return part.innerText()
}
