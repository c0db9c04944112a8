import { Document, isMap, isNode, isPair, isScalar, type Pair, type Scalar, visit } from 'yaml'
import type { Json } from '../../base/json.ts'
import { visible } from '../../base/visible.ts'

/** Where a comment stands: keys from the root, and positions in lists. */
type At = readonly (string | number)[]

export interface Comments {
  /** Lines above a member or item, with an empty line before them where a part of the file begins. */
  above: readonly (readonly [at: At, lines: readonly string[]])[]
  /** At the end of the line of an item. */
  beside: readonly (readonly [at: At, line: string])[]
  /** At the head of the file. */
  head: readonly string[]
}

/** What is read as the same text in every YAML; all other texts are quoted as JSON quotes them. */
const PLAIN = /^[A-Za-z](?:[A-Za-z0-9 _./,()'$;-]*[A-Za-z0-9_./)])?$/

/** A YAML text of the value. Comments may hold any text: what is not visible is shown as an escape. */
export function yamlOf(value: Json, { above, beside, head }: Comments): string {
  const document = new Document(value, { version: '1.2', schema: 'core', aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && !PLAIN.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  for (const [at, lines] of above) {
    const node = typeof at.at(-1) === 'number' ? document.getIn(at, true) : keyAt(document, at)
    if (!isNode(node)) continue
    node.commentBefore = commentOf(lines)
    node.spaceBefore = at.length === 1 || (typeof at.at(-1) === 'number' && at.at(-1) !== 0)
  }
  for (const [at, line] of beside) {
    const node = document.getIn(at, true)
    if (isScalar(node)) node.comment = commentOf([line])
  }
  document.commentBefore = commentOf(head)
  return document.toString({ lineWidth: 0, doubleQuotedAsJSON: true, directives: false })
}

function keyAt(document: Document, at: At): Scalar | undefined {
  const parent = at.length === 1 ? document.contents : document.getIn(at.slice(0, -1), true)
  const items: readonly unknown[] = isMap(parent) ? parent.items : []
  const pair = items.find((item): item is Pair => isPair(item) && isScalar(item.key) && item.key.value === at.at(-1))
  return isScalar(pair?.key) ? pair.key : undefined
}

function commentOf(lines: readonly string[]): string {
  return lines.map((line) => ` ${visible(line)}`).join('\n')
}
