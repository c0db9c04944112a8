import { visible } from './visible.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** One line of foreign text for XML: shows terminal controls, and replaces what XML cannot hold. */
export function xmlText(text: string): string {
  return visible(text)
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '')
    .replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
}
