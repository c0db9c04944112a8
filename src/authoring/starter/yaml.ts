import { Document, visit } from 'yaml'
import type { Json } from '../../base/json.ts'
import { visible } from '../../base/visible.ts'

/** Texts that every YAML reader takes for the same text; all others are quoted as JSON quotes them. */
const PLAIN = /^[A-Za-z](?:[A-Za-z0-9 _./,()'$;-]*[A-Za-z0-9_./)])?$/

/** The value as YAML, with each text on one line. */
export function yamlOf(value: Json): string {
  const document = new Document(value, { version: '1.2', schema: 'core', aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && !PLAIN.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, doubleQuotedAsJSON: true, directives: false })
}

/** The lines as comments. Any text is safe: invisible characters are shown as escapes. */
export function commentOf(lines: readonly string[]): string {
  return lines.map((line) => `${`# ${visible(line)}`.trimEnd()}\n`).join('')
}

export function sectionOf(comment: readonly string[], value: Json): string {
  return `\n${commentOf(comment)}${yamlOf(value)}`
}
