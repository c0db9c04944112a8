import { visible } from './visible.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** One line of foreign text for XML, also in an attribute: what steers a terminal is shown, and what XML cannot hold is replaced. */
export function xmlText(text: string): string {
  return visible(text)
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '')
    .replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
}
