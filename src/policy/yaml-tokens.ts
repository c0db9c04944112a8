import type { CST } from 'yaml'
import type { DiagnosticCode } from './codes.ts'
import { LIMITS } from './limits.ts'
import { placeAt, type Source } from './node.ts'
import type { Report } from './report.ts'

const REFUSED: Record<string, [DiagnosticCode, string]> = {
  anchor: ['GATE1008', 'Anchors are not allowed; write the value where it is used, or name a condition or list.'],
  alias: ['GATE1008', 'Aliases are not allowed; write the value where it is used, or name a condition or list.'],
  tag: ['GATE1009', 'Tags are not allowed; values have the types of YAML 1.2 (core schema).'],
  directive: ['GATE1007', 'Directives are not allowed; every policy is YAML 1.2.'],
}

type Token = CST.Token | CST.SourceToken

export interface Inspection {
  /** True when the text nests too deeply to be read further. */
  tooDeep: boolean
  /** Where the first bracket or quote opens that is never closed: from there on nothing is certain. */
  unclosedAt: number | undefined
}

/**
 * Reports what policies may not use, at its own place, without expanding or even resolving it. Walks
 * with a list of its own, not by recursion, since the depth is not yet known.
 */
export function inspectTokens(tokens: readonly CST.Token[], source: Source, report: Report): Inspection {
  let unclosedAt: number | undefined
  const pending: { token: Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 })).reverse()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token } = next
    const refused = REFUSED[token.type]
    if (refused !== undefined) report.add(refused[0], placeAt(source, token.offset, endOf(token)), refused[1])
    const depth = next.depth + (isCollection(token) ? 1 : 0)
    if (depth > LIMITS.depth) {
      report.add('GATE1014', placeAt(source, token.offset), `Nesting deeper than ${LIMITS.depth} levels.`)
      return { tooDeep: true, unclosedAt }
    }
    if (isUnclosed(token)) unclosedAt = Math.min(token.offset, unclosedAt ?? token.offset)
    for (const child of childrenOf(token, source, report).toReversed()) pending.push({ token: child, depth })
  }
  return { tooDeep: false, unclosedAt }
}

function isUnclosed(token: Token): boolean {
  if (token.type === 'flow-collection') {
    return !token.end.some(({ type }) => type === 'flow-seq-end' || type === 'flow-map-end')
  }
  if (token.type !== 'double-quoted-scalar' && token.type !== 'single-quoted-scalar') return false
  return token.source.length < 2 || !token.source.endsWith(token.source.slice(0, 1))
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
    // One by one: as arguments of one call, the tokens of a hostile text would overflow the stack.
    for (const one of start) children.push(one)
    for (const one of sep ?? []) children.push(one)
    if (key) children.push(key)
    if (value) children.push(value)
  }
  return children
}
