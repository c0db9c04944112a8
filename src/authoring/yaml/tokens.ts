import type { CST } from 'yaml'
import type { DiagnosticCode } from '../diagnostics/codes.ts'
import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { OPERATOR_WORDS } from '../suggest/synonyms.ts'
import { placeAt, type Source } from './node.ts'

const REFUSED: Record<string, [DiagnosticCode, string]> = {
  anchor: ['GATE1008', 'Anchors are not allowed; write the value where it is used, or name a condition or list.'],
  directive: ['GATE1007', 'Directives are not allowed; every policy is YAML 1.2.'],
}
const ALIAS = 'Aliases are not allowed; write the value where it is used, or name a condition or list.'
const STAR = 'A text that begins with * stands in quotes; without them YAML reads it as an alias.'
const TAG = 'Tags are not allowed; values have the types of YAML 1.2 (core schema).'
const EXCLAMATION = 'A text that begins with ! stands in quotes; without them YAML reads it as a tag.'

type Token = CST.Token | CST.SourceToken

export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface Inspection {
  /** True when something was reported. */
  readonly isFaulty: boolean
  /** True when the text nests too deeply to be read further. */
  readonly tooDeep: boolean
  /** Offset of the first bracket that is never closed: nothing is certain after it. */
  readonly openBracket: number | undefined
  /** Offset of the first quote that is never closed. */
  readonly openQuote: number | undefined
  /** Texts in quotes of more than one line, as a missing quote makes them. */
  readonly longQuotes: readonly Stretch[]
  /** Offsets of values that begin with `{{` or `{%`, which YAML takes for a mapping. */
  readonly templates: readonly number[]
  /** Texts in double quotes with a backslash, and plain ones with an invalid first character. */
  readonly doubtful: readonly Stretch[]
}

/**
 * Reports constructs that policies may not use, at their places, without expanding or even resolving them. Walks with
 * a list of its own instead of recursion, since the depth is not yet known.
 */
export function inspectTokens(tokens: readonly CST.Token[], source: Source, report: Report): Inspection {
  const errors = report.count()
  const found = {
    tooDeep: false,
    openBracket: undefined as number | undefined,
    openQuote: undefined as number | undefined,
    longQuotes: [] as Stretch[],
    templates: [] as number[],
    doubtful: [] as Stretch[],
  }
  const anchors = new Set<string>()
  const aliases: CST.FlowScalar[] = []
  const pending: { token: Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token } = next
    const refused = REFUSED[token.type]
    if (refused !== undefined) report.add(refused[0], placeAt(source, token.offset, endOf(token)), refused[1])
    if (token.type === 'anchor') anchors.add(token.source.slice(1))
    if (token.type === 'alias') aliases.push(token)
    if (token.type === 'tag') reportTag(token, source, report)
    const depth = next.depth + (isCollection(token) ? 1 : 0)
    if (depth > LIMITS.depth) {
      report.add(
        'GATE1014',
        placeAt(source, token.offset),
        `Nesting deeper than ${LIMITS.depth} levels; give a part of it a name under conditions.`,
      )
      found.tooDeep = true
      break
    }
    if (isUnclosed(token)) {
      const what = token.type === 'flow-collection' ? 'openBracket' : 'openQuote'
      found[what] = Math.min(token.offset, found[what] ?? token.offset)
    }
    noteScalar(token, found)
    if (token.type === 'flow-collection' && /^\{[{%]/.test(source.text.slice(token.offset, token.offset + 2)))
      found.templates.push(token.offset)
    for (const child of childrenOf(token, source, report).toReversed()) pending.push({ token: child, depth })
  }
  for (const alias of aliases) reportAlias(alias, anchors, source, report)
  return { ...found, isFaulty: report.count() > errors }
}

function noteScalar(token: Token, found: { longQuotes: Stretch[]; doubtful: Stretch[] }): void {
  if (!('source' in token)) return
  const stretch = { start: token.offset, end: endOf(token) }
  const isQuoted = token.type === 'double-quoted-scalar' || token.type === 'single-quoted-scalar'
  if (isQuoted && token.source.includes('\n')) found.longQuotes.push(stretch)
  const isReserved = token.type === 'scalar' && /^[@`%]/.test(token.source)
  if (isReserved || (token.type === 'double-quoted-scalar' && token.source.includes('\\'))) found.doubtful.push(stretch)
}

/** Reports an alias; one without an anchor is the beginning of an action pattern. */
function reportAlias(token: CST.FlowScalar, anchors: ReadonlySet<string>, source: Source, report: Report): void {
  const place = placeAt(source, token.offset, endOf(token))
  if (anchors.has(token.source.slice(1))) report.add('GATE1008', place, ALIAS)
  else report.add('GATE1008', place, STAR, token.source)
}

function reportTag(token: CST.SourceToken, source: Source, report: Report): void {
  const place = placeAt(source, token.offset, endOf(token))
  const operator = OPERATOR_WORDS.get(token.source.toLowerCase())
  if (operator === undefined) report.add('GATE1009', place, TAG)
  else report.add('GATE1009', place, EXCLAMATION, operator)
}

function isUnclosed(token: Token): boolean {
  if (token.type === 'flow-collection') {
    return !token.end.some(({ type }) => type === 'flow-seq-end' || type === 'flow-map-end')
  }
  if (token.type !== 'double-quoted-scalar' && token.type !== 'single-quoted-scalar') return false
  return token.source.length < 2 || !token.source.endsWith(token.source.slice(0, 1))
}

/** True for what stands before a value and is refused; the rest is space, comments and punctuation. */
function isMark({ type }: CST.SourceToken): boolean {
  return type === 'tag' || REFUSED[type] !== undefined
}

function isCollection(token: Token): boolean {
  return token.type === 'block-map' || token.type === 'block-seq' || token.type === 'flow-collection'
}

function endOf(token: Token): number {
  return token.offset + ('source' in token ? token.source.length : 0)
}

function childrenOf(token: Token, source: Source, report: Report): Token[] {
  if (token.type === 'document') return [...token.start, ...(token.value === undefined ? [] : [token.value])]
  if (token.type === 'block-scalar') return token.props
  if (token.type !== 'block-map' && token.type !== 'block-seq' && token.type !== 'flow-collection') return []
  const children: Token[] = []
  for (const { start, key, sep, value } of token.items) {
    if (sep !== undefined && key?.type === 'scalar' && key.source === '<<') {
      report.add('GATE1010', placeAt(source, key.offset, key.offset + 2), 'Merge keys are not allowed.')
    }
    // Pushes one by one: as arguments of one call, the tokens of a hostile text would overflow the stack.
    for (const one of start) if (isMark(one)) children.push(one)
    for (const one of sep ?? []) if (isMark(one)) children.push(one)
    if (key) children.push(key)
    if (value) children.push(value)
  }
  return children
}
