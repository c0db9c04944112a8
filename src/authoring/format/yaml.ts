import { entriesOf, type Node, type Place, type Source } from '../yaml/node.ts'
import { type Comment, columnOf, dashFrom, hasBlankBefore, type Layout, layoutOf } from './layout.ts'
import { blockScalar, oneLineScalar, scalarLines, WIDTH } from './scalars.ts'

/** State of printing: comments are printed in the order of the source, each once. */
interface Printing {
  readonly layout: Layout
  /** Position of the next comment. */
  next: number
  /** True after a text that would swallow a following empty line. */
  sealed: boolean
}

/** Position at which a part of the document is printed. */
interface At {
  /** Characters before it on its line. */
  readonly column: number
  /** Source offset of the part that follows it. */
  readonly limit: number
  /** Source column of the collection that holds it; -1 for the document itself. */
  readonly outer: number
  /** True inside brackets. */
  readonly inFlow: boolean
}

/** A value, or undefined when nothing is written, as after `key:`. */
type Value = Node | undefined

/** An item of a list, or a key with its value. */
interface Member {
  readonly start: number
  readonly key: { readonly place: Place; readonly name: string } | undefined
  readonly value: Value
}

/** The formatted document with all its comments; docs/decisions/0017-format.md describes the style. */
export function yamlText(source: Source, root: Node): string {
  const p: Printing = { layout: layoutOf(source), next: 0, sealed: false }
  const at: At = { column: 0, limit: source.text.length, outer: -1, inFlow: false }
  const lines: string[] = []
  if (isBlock(p, root, at)) append(lines, collection(p, root, at))
  else {
    ownLines(p, lines, root.start)
    const [first = '', ...rest] = body(p, root, at, at.column)
    // Indented: a comment after a text that is not indented would belong to it.
    append(lines, [first + beside(p, root.end), ...indented(rest)])
    lines.push(`${lines.pop() ?? ''}${beside(p, at.limit)}`)
    ownLines(p, lines, at.limit)
  }
  return `${lines.join('\n')}\n`
}

/** Pushes one by one: as arguments of one call, the lines of a long text would overflow the stack. */
function append(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line)
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`))
}

function nextComment(p: Printing, limit: number): Comment | undefined {
  const comment = p.layout.comments[p.next]
  return comment !== undefined && comment.start < limit ? comment : undefined
}

/**
 * The comment to print at the end of the last line; empty when there is none.
 *
 * @param takesOwn whether one on a line of its own is put there too
 */
function beside(p: Printing, limit: number, takesOwn = false): string {
  const comment = nextComment(p, limit)
  if (comment === undefined || (comment.ownLine && !takesOwn)) return ''
  p.next += 1
  return ` ${comment.text}`
}

/** Writes the comments up to the limit, each on a line of its own. */
function ownLines(p: Printing, lines: string[], limit: number, isWanted = (_: Comment): boolean => true): void {
  for (let comment = nextComment(p, limit); comment && isWanted(comment); comment = nextComment(p, limit)) {
    blankLine(p, lines, comment.start)
    lines.push(comment.text)
    p.next += 1
    p.sealed = false
  }
}

/** Keeps an empty line before the part at the offset; never at the beginning of a collection. */
function blankLine(p: Printing, lines: string[], offset: number): void {
  if (lines.length > 0 && !p.sealed && hasBlankBefore(p.layout, offset)) lines.push('')
}

function hasBrackets({ layout }: Printing, node: Node): boolean {
  return isCollection(node) && '{['.includes(layout.source.text[node.start] ?? ' ')
}

function isCollection(node: Node): boolean {
  return node.entries !== undefined || node.items !== undefined
}

function sizeOf(node: Node): number {
  return node.entries?.size ?? node.items?.length ?? 0
}

/** True for a collection that takes several lines: one that did, and one in brackets that has comments or is too long. */
function isBlock(p: Printing, node: Node, { column, inFlow }: At): boolean {
  if (sizeOf(node) === 0) return false
  if (!inFlow && !hasBrackets(p, node)) return true
  return hasComments(p, node) || column + oneLine(p, node).length > WIDTH
}

function hasComments(p: Printing, node: Node): boolean {
  let at = p.next
  while ((p.layout.comments[at]?.start ?? node.start) < node.start) at += 1
  return (p.layout.comments[at]?.start ?? node.end) < node.end
}

/** The members of a collection on lines of their own, with the comments among them and after them. */
function collection(p: Printing, node: Node, at: At): string[] {
  const lines: string[] = []
  const isClosed = hasBrackets(p, node)
  const end = isClosed ? node.end - 1 : at.limit
  const begin = columnOf(p.layout, node.start)
  const members = membersOf(p, node, at)
  let wasTall = false
  for (const [i, member] of members.entries()) {
    const from = lines.length
    const isSealed = p.sealed
    ownLines(p, lines, member.start)
    blankLine(p, lines, member.start)
    const limit = members[i + 1]?.start ?? end
    const inFlow = at.inFlow || isClosed
    const printed = memberLines(p, member, { column: at.column, limit, outer: begin, inFlow })
    const isTall = printed.length > 1
    // Sections of a file are separated by an empty line when one of the two takes several lines.
    const isApart = at.outer < 0 && node.entries !== undefined && i > 0 && (isTall || wasTall)
    if (isApart && !isSealed && !lines.slice(from).includes('')) lines.splice(from, 0, '')
    append(lines, printed)
    wasTall = isTall
  }
  const belongsHere = ({ ownLine, column }: Comment): boolean => (column >= begin && column > at.outer) || !ownLine
  ownLines(p, lines, end, at.outer < 0 || isClosed ? undefined : belongsHere)
  return lines
}

function membersOf(p: Printing, node: Node, { inFlow }: At): Member[] {
  if (node.items === undefined) {
    return entriesOf(node).map(({ name, key, value }) => {
      const isWritten = value.start > key.start
      return { start: key.start, key: { place: key, name }, value: isWritten ? value : undefined }
    })
  }
  if (inFlow || hasBrackets(p, node)) return node.items.map((value) => ({ start: value.start, key: undefined, value }))
  let from = node.start
  return node.items.map((item) => {
    const start = dashFrom(p.layout, from)
    // An item without text stands at its dash.
    const value = item.start > start ? item : undefined
    from = value?.end ?? start + 1
    return { start, key: undefined, value }
  })
}

/** A key with its value, or a dash with its item. */
function memberLines(p: Printing, { key, value }: Member, at: At): string[] {
  const head = key === undefined ? '-' : `${keyText(p, key.place, key.name)}:`
  p.sealed = false
  if (value === undefined) return emptyMember(p, head, at)
  const inside = { ...at, column: at.column + (key === undefined ? 2 : head.length + 1) }
  if (isBlock(p, value, inside)) return blockMember(p, head, value, at)
  const text = p.layout.source.text
  const between: string[] = []
  // Comments in brackets that hold nothing else move before them.
  const begin = isCollection(value) ? value.end : value.start
  const isAside = nextComment(p, begin) !== undefined
  const first = isAside ? head + beside(p, begin) : `${head} `
  ownLines(p, between, begin)
  const [start = '', ...rest] = body(p, value, at, isAside ? at.column + 2 : inside.column)
  const isText = '|>'.includes(text[value.start] ?? ' ')
  const lines = isAside ? [first, ...indented([...between, start])] : [first + start]
  if (isText) lines.push(`${lines.pop() ?? ''}${beside(p, value.end)}`)
  append(lines, indented(rest))
  if (!isText) lines.push(`${lines.pop() ?? ''}${beside(p, at.limit)}`)
  return lines
}

/** A key or dash without value. Comments deeper than the key belong to the value that is still missing. */
function emptyMember(p: Printing, head: string, at: At): string[] {
  const first = head + beside(p, at.limit)
  const rest: string[] = []
  ownLines(p, rest, at.limit, ({ column }) => column > at.outer)
  return [first, ...indented(rest)]
}

function blockMember(p: Printing, head: string, value: Node, at: At): string[] {
  const [member] = membersOf(p, value, at)
  const wasOneLine = !hasComments(p, value)
  // The first line of an item stands beside its dash, a comment too.
  let remark = beside(p, hasBrackets(p, value) ? (member?.start ?? value.end) : value.start, head === '-')
  const above: string[] = []
  // A comment behind a bracket that is removed belongs to the whole.
  const behind = nextComment(p, at.limit)
  if (hasBrackets(p, value) && wasOneLine && remark === '' && behind !== undefined && behind.start >= value.end) {
    const comment = beside(p, at.limit)
    if (head === '-') above.push(...(comment === '' ? [] : [comment.trimStart()]))
    else remark = comment
  }
  const lines = collection(p, value, { column: at.column + 2, limit: at.limit, outer: at.outer, inFlow: at.inFlow })
  if (head !== '-' || remark !== '') return [...above, head + remark, ...indented(lines)]
  return [...above, ...indented(lines).map((line, i) => (i === 0 ? `- ${line.slice(2)}` : line))]
}

function keyText(p: Printing, { start, end }: Place, name: string): string {
  return oneLineScalar(p.layout.source.text.slice(start, end), name)
}

/** Lines of a value that is not a block; the caller indents those after the first. */
function body(p: Printing, value: Node, at: At, column: number): string[] {
  if (isCollection(value)) return [oneLine(p, value)]
  const source = p.layout.source.text.slice(value.start, value.end)
  if (source.startsWith('|') || source.startsWith('>')) {
    // A comment after it would be its first line.
    if (at.outer < 0 && /^\s*$/.test(String(value.value))) return [JSON.stringify(value.value)]
    const { lines, keepsEnd } = blockScalar(source, at.outer)
    p.sealed = keepsEnd
    return [...lines]
  }
  return scalarLines(source, value.value, column, at.column + 2)
}

function oneLine(p: Printing, node: Node): string {
  const { text } = p.layout.source
  if (!isCollection(node)) return oneLineScalar(text.slice(node.start, node.end), node.value)
  if (sizeOf(node) === 0) return node.items === undefined ? '{}' : '[]'
  const parts = membersOf(p, node, { column: 0, limit: 0, outer: 0, inFlow: true }).map(({ key, value }) => {
    const written = value === undefined ? undefined : oneLine(p, value)
    if (key === undefined) return written ?? ''
    const name = keyText(p, key.place, key.name)
    if (written !== undefined) return `${name}: ${written}`
    // The key needs a colon of its own: the one at the end of its name would be read as it.
    return name.endsWith(':') ? `${name}:` : name
  })
  return node.items === undefined ? `{ ${parts.join(', ')} }` : `[${parts.join(', ')}]`
}
