import { entriesOf, itemsOf, type Node } from '../yaml/node.ts'
import { WIDTH } from './scalars.ts'

/** A formatted JSON document; scalars and keys stay as they are written. */
export function jsonText(root: Node): string {
  return `${written(root, 0, 0).join('\n')}\n`
}

/** @param taken characters already used on the first line, and needed after the last */
function written(node: Node, depth: number, taken: number): string[] {
  const parts = partsOf(node)
  if (parts === undefined) return [sourceOf(node)]
  if (parts.length === 0) return [node.items === undefined ? '{}' : '[]']
  const isSection = depth === 0 || (depth === 1 && parts.some(({ value }) => (partsOf(value) ?? []).length > 0))
  if (!isSection && taken + oneLine(node).length <= WIDTH) return [oneLine(node)]
  const [open, close] = node.items === undefined ? ['{', '}'] : ['[', ']']
  const lines = [open]
  for (const [i, { head, value }] of parts.entries()) {
    const comma = i < parts.length - 1 ? ',' : ''
    const inner = written(value, depth + 1, 2 * (depth + 1) + head.length + comma.length)
    for (const [k, line] of inner.entries()) {
      lines.push(`  ${k === 0 ? head : ''}${line}${k === inner.length - 1 ? comma : ''}`)
    }
  }
  return [...lines, close]
}

/** Undefined for a scalar. `head` is the key with its colon. */
function partsOf(node: Node): { head: string; value: Node }[] | undefined {
  if (node.items !== undefined) return itemsOf(node).map((value) => ({ head: '', value }))
  if (node.entries === undefined) return undefined
  return entriesOf(node).map(({ key, value }) => ({ head: `${key.source.text.slice(key.start, key.end)}: `, value }))
}

function oneLine(node: Node): string {
  const parts = partsOf(node)
  if (parts === undefined) return sourceOf(node)
  const text = parts.map(({ head, value }) => head + oneLine(value)).join(', ')
  if (node.items !== undefined) return `[${text}]`
  return text === '' ? '{}' : `{ ${text} }`
}

function sourceOf({ source, start, end }: Node): string {
  return source.text.slice(start, end)
}
