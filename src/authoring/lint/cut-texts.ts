import { entriesOf, itemsOf, lineEndOf, memberOf, type Node } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { writtenLeaves } from './describe.ts'

/** Reports texts without quotes that YAML ends at a `#` which probably belongs to them. */
export function reportCutTexts({ set, names, roots }: Certain): void {
  const described = [...set.rules, ...set.factors].flatMap((part) => names.nodes.get(part) ?? [])
  const texts = [...described, ...roots.flatMap((root) => memberOf(root, 'defaults') ?? [])].flatMap((node) =>
    ['reason', 'description'].flatMap((key) => memberOf(node, key) ?? []),
  )
  const constants = writtenLeaves(names).flatMap(({ node }) => scalarsIn(memberOf(node, 'value')))
  const listed = roots.flatMap((root) =>
    entriesOf(memberOf(root, 'lists')).flatMap(({ value }) => scalarsIn(memberOf(value, 'values'))),
  )
  for (const node of [...texts, ...constants, ...listed]) {
    const whole = wholeText(node)
    if (whole === undefined) continue
    const message = `The text ends before the #, which begins a comment. Write it in quotes if ${JSON.stringify(whole)} is meant.`
    names.report.add('GATE2032', { ...node, end: node.start + whole.length }, message, whole)
  }
}

function scalarsIn(node: Node | undefined): readonly Node[] {
  return node?.items === undefined ? (node === undefined ? [] : [node]) : itemsOf(node)
}

/** The text with the comment behind it; undefined where there is none, or one that has a space behind its `#`. */
function wholeText({ source, start, end, value }: Node): string | undefined {
  const { text, file } = source
  if (file.endsWith('.json') || typeof value !== 'string' || !text.startsWith(value, start)) return undefined
  const line = text.slice(start, lineEndOf(text, start)).trimEnd()
  return /^[ \t]+#[^\s#]/.test(text.slice(end, end + 200)) ? line : undefined
}
