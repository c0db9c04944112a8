import { distinctBy, grouped } from '../../base/grouped.ts'
import { parseOperator } from '../../policies/decorators.ts'
import type { Operator } from '../../policies/operators.ts'
import type { Leaf, PolicyData } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { REQUEST_ROOTS } from '../load/fact-names.ts'
import type { Names } from '../load/names.ts'
import { itemsOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { writtenLeaves } from './describe.ts'
import { passesIfTrue, passingOf } from './loose-allows.ts'
import { type Doubt, patternDoubt } from './pattern-doubts.ts'
import { type Expected, expectedBy, type Use } from './refused.ts'

/** Longest text that is looked at: the expressions below may take the square of it. */
const MAX_LENGTH = 500

/**
 * Reports constants that hardly any request has as they are written: they look like another notation.
 *
 * @param refused comparisons that are reported already
 */
export function reportOddConstants(certain: Certain, uses: readonly Use[], refused: ReadonlySet<Leaf>): void {
  const { set, names } = certain
  const isExpected = expectedBy(certain, uses)
  const restraining = restrainingIn(set)
  const isOpen = (leaf: Leaf): boolean => REQUEST_ROOTS.has(leaf.fact.root) && !refused.has(leaf)
  const leaves = writtenLeaves(names).filter(({ leaf }) => isOpen(leaf))
  for (const { leaf, node } of leaves) {
    const operator = parseOperator(leaf.operator)?.operator
    const value = memberOf(node, 'value')
    if (operator === undefined || value === undefined || operator.value === 'list') continue
    const places = value.items === undefined ? [value] : itemsOf(value)
    if (operator.value === 'pattern') for (const place of places) reportPattern(place, restraining.has(leaf), names)
    else for (const place of places) report(place, operator, (text) => isExpected(leaf, text, 'type'), names)
    if (value.items !== undefined) reportJoined(value, names.report)
  }
  reportOtherCase(leaves, isExpected, names)
}

/** Comparisons for which a rule restrains, or a factor adds to the risk. */
function restrainingIn(set: PolicyData): ReadonlySet<Leaf> {
  const restraining = [...set.rules.filter(({ effect }) => effect !== 'allow'), ...set.factors]
  return new Set(
    restraining.flatMap((about) => passingOf(about, set).flatMap((one) => (passesIfTrue(one) ? [] : [one.leaf]))),
  )
}

function reportPattern(place: Node, restrains: boolean, names: Names): void {
  const text = textOf(place)
  if (text === undefined || text.length > MAX_LENGTH) return
  const doubt = patternDoubt(text, restrains)
  if (doubt !== undefined) names.report.add('GATE2035', place, doubt.message, doubt.meant)
}

/** Reports texts without quotes in brackets that go on in the next line: a comma is missing. */
export function reportJoined(list: Node, report: Report): void {
  for (const place of itemsOf(list)) {
    const written = place.source.text.slice(place.start, place.end)
    if (
      textOf(place) === undefined ||
      place.source.text[list.start] !== '[' ||
      /^["']/.test(written) ||
      !/\S[^\S\n]*\n/.test(written)
    )
      continue
    const message =
      'The text goes on in the next line, so that this is one text. Write a comma between the two, or quotes.'
    report.add('GATE2034', place, message)
  }
}

type IsTyped = (text: string) => boolean

function report(place: Node, operator: Operator, isTyped: IsTyped, names: Names): void {
  const text = textOf(place)
  if (text !== undefined && text.length > MAX_LENGTH) return
  const doubt = text === undefined ? numberDoubt(place) : textDoubt(text, place, operator, isTyped)
  if (doubt !== undefined) names.report.add('GATE2034', place, doubt.message, doubt.meant)
}

/** `10.000`, which is ten. Nobody ends a decimal fraction with zeros. */
function numberDoubt({ source, start, end, value }: Node): Doubt | undefined {
  const written = source.text.slice(start, end)
  if (!/^[1-9]\d{0,2}\.\d\d0$/.test(written)) return undefined
  return { message: `${written} is the number ${value}. Write a number without separators of thousands.` }
}

const FLAGS = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
])
/** Codes, words or hosts that a separator joins. */
const JOINED =
  /^[A-Z0-9]{2,4}(?: ?[,;|] ?[A-Z0-9]{2,4})+$|^[A-Za-z]{2,20}(?:\|[A-Za-z]{2,20})+$|^(?=.*[a-z])[\w-]+(?:\.[\w-]+)+(?:[,;] ?[\w-]+(?:\.[\w-]+)+)+$/
/** Texts with a star at an end, or between dots or slashes, that look like paths, names, hosts or addresses. */
const WILDCARD = /^\*[^\s*]*[./@][^\s*]*$|^[^\s*]*[./@:_-][^\s*]*\*{1,2}$|^[^\s*]*[./:]\*{1,2}[./:][^\s*]*$/
const EXPRESSION = /^(?=\^|.*\$$).*(?:\.[*+]|\\[dws]|\[[^\]]+\][*+{])/

function textDoubt(text: string, place: Node, { name, value }: Operator, isTyped: IsTyped): Doubt | undefined {
  if (value === 'cidr') return /\/0+$/.test(text) ? { message: `${text} has every address in it.` } : undefined
  const bare = name === 'startsWith' ? text.trimStart() : name === 'endsWith' ? text.trimEnd() : text.trim()
  if (bare !== text && bare !== '') return { message: 'The spaces around the text are part of it.', meant: bare }
  const isWhole = value === 'scalar' || value === 'scalars'
  const isPlain = place.source.text.slice(place.start, place.end) === text
  const flag = FLAGS.get(text)
  if (value === 'scalar' && isPlain && flag !== undefined && !isTyped(text))
    return { message: `${text} is a text here. Write ${flag}, or put the text in quotes.`, meant: flag }
  if (isWhole && JOINED.test(text))
    return { message: 'This is one text. Write a list of texts, and ask with in or notIn.' }
  const star = name === 'startsWith' ? text.endsWith('*') : name === 'endsWith' ? text.startsWith('*') : isWhole
  if (star && WILDCARD.test(text))
    return { message: `${name} has no wildcards, so * stands for itself. Ask with startsWith, endsWith or matches.` }
  if (isWhole && EXPRESSION.test(text))
    return { message: `${name} compares whole texts, and this looks like a pattern. Ask with matches.` }
  return undefined
}

/** Reports texts that are compared with a fact in two letter cases; the rarer one is at fault, or the later one. */
function reportOtherCase(leaves: readonly { leaf: Leaf; node: Node }[], isExpected: Expected, names: Names): void {
  for (const [, ofFact] of grouped(leaves, ({ leaf }) => leaf.fact.text)) {
    const lists = ofFact.map(({ leaf, node }) => textsOf(leaf, node))
    const uses = grouped(lists.flat(), (place) => String(place.value))
    const byLower = grouped([...uses.keys()], (text) => text.toLowerCase())
    for (const [, [first, second, ...more]] of byLower) {
      if (first === undefined || second === undefined || more.length > 0) continue
      // A list with both means both.
      const has = (list: readonly Node[], text: string): boolean => list.some(({ value }) => value === text)
      if (lists.some((list) => has(list, first) && has(list, second))) continue
      const [rare, usual] =
        (uses.get(first)?.length ?? 0) < (uses.get(second)?.length ?? 0) ? [first, second] : [second, first]
      // A schema that lists it means it so.
      if (ofFact.some(({ leaf, node }) => has(textsOf(leaf, node), rare) && isExpected(leaf, rare, 'enum'))) continue
      const message = `Elsewhere this fact is compared with ${usual}, and comparison tells capitals apart.`
      for (const place of distinctBy(uses.get(rare) ?? [], ({ start, source }) => `${source.file} ${start}`))
        names.report.add('GATE2036', place, message, usual)
    }
  }
}

/** The texts with which a leaf compares whole values. Single letters, such as flags, differ by case on purpose. */
function textsOf({ operator }: Leaf, node: Node): readonly Node[] {
  const kind = parseOperator(operator)?.operator.value
  const value = memberOf(node, 'value')
  if (value === undefined || (kind !== 'scalar' && kind !== 'scalars')) return []
  return (value.items === undefined ? [value] : itemsOf(value)).filter((place) =>
    /[A-Za-z].*[A-Za-z]/.test(textOf(place) ?? ''),
  )
}
