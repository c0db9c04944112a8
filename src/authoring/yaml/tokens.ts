import type { CST } from 'yaml'
import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { OPERATOR_WORDS } from '../suggest/synonyms.ts'
import { placeAt, type Source } from './node.ts'

const DIRECTIVE = 'Directives are not allowed; every policy is YAML 1.2.'
const ANCHOR = 'Anchors are not allowed; write the value where it is used, or name a condition or list.'
const MERGE = 'Merge keys are not allowed; write the members here, or name a condition or list.'
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
  const aliases: CST.FlowScalar[] = []
  const walk: Walk = { source, report, anchors: new Map(), merged: new Set() }
  const pending: { token: Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token } = next
    if (token.type === 'directive') report.add('GATE1007', placeAt(source, token.offset, endOf(token)), DIRECTIVE)
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
    for (const child of childrenOf(token, walk).toReversed()) pending.push({ token: child, depth })
  }
  for (const alias of aliases) reportAlias(alias, walk)
  reportAnchors(aliases, walk)
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

interface Walk {
  readonly source: Source
  readonly report: Report
  /** The anchors by name, each with the key of the value that it is before. */
  readonly anchors: Map<string, { token: CST.SourceToken; key: Token | null | undefined }>
  /** Names of anchors that merge keys use. */
  readonly merged: Set<string>
}

/**
 * Reports anchors that nothing uses: those in use are reported there, and the key that only holds one is not a fault
 * too.
 */
function reportAnchors(aliases: readonly CST.FlowScalar[], { source, report, anchors, merged }: Walk): void {
  const used = new Set([...merged, ...aliases.map((alias) => alias.source.slice(1))])
  for (const [name, { token, key }] of anchors) {
    if (!used.has(name)) report.add('GATE1008', placeAt(source, token.offset, endOf(token)), ANCHOR)
    else if (key) report.silence(placeAt(source, key.offset))
  }
}

/** Reports an alias; one without an anchor is the beginning of an action pattern. */
function reportAlias(token: CST.FlowScalar, { anchors, source, report }: Walk): void {
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
  return type === 'tag'
}

function isCollection(token: Token): boolean {
  return token.type === 'block-map' || token.type === 'block-seq' || token.type === 'flow-collection'
}

function endOf(token: Token): number {
  return token.offset + ('source' in token ? token.source.length : 0)
}

function childrenOf(token: Token, walk: Walk): Token[] {
  if (token.type === 'document') {
    noteAnchors(token.start, undefined, walk)
    return [...token.start, ...(token.value === undefined ? [] : [token.value])]
  }
  if (token.type === 'block-scalar') {
    noteAnchors(
      token.props.flatMap((prop) => (prop.type === 'anchor' ? [prop] : [])),
      undefined,
      walk,
    )
    return token.props
  }
  if (token.type !== 'block-map' && token.type !== 'block-seq' && token.type !== 'flow-collection') return []
  const children: Token[] = []
  for (const { start, key, sep, value } of token.items) {
    noteAnchors([...start, ...(sep ?? [])], key, walk)
    if (sep !== undefined && key?.type === 'scalar' && key.source === '<<') {
      walk.report.add('GATE1010', placeAt(walk.source, key.offset, key.offset + 2), MERGE)
      if (value?.type === 'alias') {
        walk.merged.add(value.source.slice(1))
        continue
      }
    }
    // Pushes one by one: as arguments of one call, the tokens of a hostile text would overflow the stack.
    for (const one of start) if (isMark(one)) children.push(one)
    for (const one of sep ?? []) if (isMark(one)) children.push(one)
    if (key) children.push(key)
    if (value) children.push(value)
  }
  return children
}

function noteAnchors(marks: readonly CST.SourceToken[], key: Token | null | undefined, { anchors }: Walk): void {
  for (const token of marks) if (token.type === 'anchor') anchors.set(token.source.slice(1), { token, key })
}
