import { globMatches, parseGlob } from '../../base/glob.ts'
import { EFFECTS, POLICY_STEPS, RETRIES } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { shapeCheck } from '../shapes/check.ts'
import { closest } from '../suggest/closest.ts'
import { meantKey, repairKeys } from '../suggest/key-repair.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, numberOf, type Place, textOf } from '../yaml/node.ts'
import {
  type Amount,
  type ByDimension,
  byDimension,
  type Dimension,
  type Expectation,
  SECTIONS,
  type Selector,
  type Wanted,
} from './cases.ts'
import {
  AmountRange,
  ExactAmount,
  ExpectationList,
  ExpectationMap,
  Expectation as ExpectationShape,
  SelectedExpectation,
} from './expectation-shapes.ts'
import { type KnownNames, readNames, reportTwice, reportUnknown } from './names.ts'
import { knownKeyCode, testCode, testReport } from './shapes.ts'

const checkExpectation = shapeCheck(ExpectationShape, knownKeyCode)
const checkSelected = shapeCheck(SelectedExpectation, knownKeyCode)
const checkList = shapeCheck(ExpectationList, testCode)
const checkMap = shapeCheck(ExpectationMap, testCode)
const checkExact = shapeCheck(ExactAmount, testCode)
const checkRange = shapeCheck(AmountRange, testCode)

/** Names in a matrix. */
export interface Asked extends ByDimension<ReadonlySet<string>> {
  readonly actions: readonly string[]
}

/** Context of expectations: the names that they may use. */
export interface Scope {
  /** The document, for the fixtures that it declares. */
  readonly root: Node
  /** Names in the test's matrix; undefined where a part of it is unknown. */
  readonly asked: Asked | undefined
  readonly known: KnownNames
  readonly report: Report
}

const ANYTHING: Selector = { action: undefined, ...byDimension(() => undefined) }

/** Reads the expectations of a test in any of their forms; every fault is reported. */
export function readExpectations(expect: Node | undefined, scope: Scope): Expectation[] {
  if (expect === undefined) return []
  if (expect.items !== undefined) return readList(expect, scope)
  return isByContext(expect, scope) ? readMap(expect, scope) : [readOne(expect, ANYTHING, scope)]
}

/**
 * True when the keys are names of contexts, each with an expectation. A mapping with a decision, or with other
 * members of an expectation and no name of a context, is one expectation for all.
 */
function isByContext(expect: Node, { asked }: Scope): boolean {
  const entries = entriesOf(expect)
  if (expect.entries === undefined) return false
  const decision = memberOf(expect, 'decision')
  if (decision !== undefined && decision.entries === undefined) return false
  if (entries.some(({ name }) => asked?.context.has(name))) return true
  return !entries.some(({ name }) => Object.hasOwn(ExpectationShape.properties, name))
}

function readOne(written: Node, selector: Selector, scope: Scope): Expectation {
  const node = repairKeys(written, ExpectationShape, testReport(scope.report))
  checkExpectation(node, scope.report)
  return { selector, wanted: readWanted(node, scope), place: node }
}

function readMap(expect: Node, scope: Scope): Expectation[] {
  checkMap(expect, scope.report)
  return entriesOf(expect)
    .slice(0, LIMITS.expectationsPerTest)
    .map(({ name, key, value }) => {
      // A value that is not a mapping cannot be an expectation: its key may be a misspelt member of one.
      const meant =
        value.entries === undefined ? meantKey(name, new Set(Object.keys(ExpectationShape.properties))) : undefined
      const isAsked = checkSelects('context', name, key, scope, meant)
      const selector = { ...ANYTHING, context: name }
      return isAsked || meant === undefined
        ? readOne(value, selector, scope)
        : { selector, wanted: readWanted(value, scope), place: value }
    })
}

function readList(expect: Node, scope: Scope): Expectation[] {
  checkList(expect, scope.report)
  return itemsOf(expect)
    .slice(0, LIMITS.expectationsPerTest)
    .map((written) => {
      const item = repairKeys(written, SelectedExpectation, testReport(scope.report))
      checkSelected(item, scope.report)
      return { selector: readSelector(item, scope), wanted: readWanted(item, scope), place: item }
    })
}

function readSelector(item: Node, scope: Scope): Selector {
  const named = (member: Dimension): string | undefined => {
    const node = memberOf(item, member)
    const name = textOf(node)
    if (node !== undefined && name !== undefined) checkSelects(member, name, node, scope)
    return name
  }
  return { action: readAction(item, scope), ...byDimension(named) }
}

function readAction(item: Node, { asked, report }: Scope): Selector['action'] {
  const node = memberOf(item, 'action')
  const text = textOf(node)
  if (node === undefined || text === undefined) return undefined
  const glob = parseGlob(text)
  if (glob === undefined) {
    report.add(
      'GATE1503',
      node,
      `${JSON.stringify(text)} is neither an action nor an action pattern such as payment.*.`,
    )
  } else if (asked?.actions.some((action) => globMatches(glob, action)) === false) {
    const meant = report.search(asked.actions, (known) => closest(text, known))
    report.add('GATE1508', node, `${JSON.stringify(text)} is not an action of the matrix.`, meant)
  }
  return glob
}

/** Checks the name that selects a case. False, and reported, when the file does not declare it, or the matrix does not use it. */
function checkSelects(
  member: Dimension,
  name: string,
  place: Place,
  { root, asked, report }: Scope,
  meant?: string,
): boolean {
  if (asked === undefined || asked[member].has(name)) return true
  const isDeclared = keyOf(memberOf(root, SECTIONS[member]), name) !== undefined
  if (isDeclared) report.add('GATE1508', place, `The matrix does not ask the ${member} ${JSON.stringify(name)}.`)
  else reportUnknown(name, place, asked[member], `among the ${SECTIONS[member]} of the matrix`, report, meant)
  return false
}

function readWanted(node: Node, { known, report }: Scope): Wanted {
  const listed = (member: string, names: KnownNames['rules'], where: string): readonly string[] | undefined => {
    const list = memberOf(node, member)
    reportTwice(itemsOf(list), report, 'GATE2017')
    return list && readNames(itemsOf(list), names, where, report)
  }
  const rule = memberOf(node, 'rule')
  if (rule !== undefined) readRule(rule, known.rules, report)
  return {
    // The shape reports any other value.
    decision: EFFECTS.find((effect) => effect === memberOf(node, 'decision')?.value) ?? 'deny',
    rule: rule?.value === null ? null : textOf(rule),
    rules: listed('rules', known.rules, 'under rules'),
    decidedBy: POLICY_STEPS.find((step) => step === memberOf(node, 'decidedBy')?.value),
    retry: RETRIES.find((retry) => retry === memberOf(node, 'retry')?.value),
    quorum: numberOf(memberOf(node, 'quorum')),
    approvers: readApprovers(memberOf(node, 'approvers'), known, report),
    reason: textOf(memberOf(node, 'reason')),
    risk: readRisk(memberOf(node, 'risk'), report),
    factors: readFactors(memberOf(node, 'factors'), known, report),
    unevaluable: listed('unevaluable', known.either, 'under rules or risk'),
  }
}

/** Reads `[treasury]`, groups of which one is needed, or a list of such lists, of each of which one is needed. */
function readApprovers(
  node: Node | undefined,
  { groups }: KnownNames,
  report: Report,
): readonly (readonly string[])[] | undefined {
  if (node === undefined) return undefined
  const lists = itemsOf(node).some(({ items }) => items !== undefined) ? itemsOf(node).map(groupNodes) : [itemsOf(node)]
  const where = 'among the approvers of the policies'
  return lists.filter((list) => list.length > 0).map((list) => readNames(list, groups, where, report))
}

function groupNodes(node: Node): readonly Node[] {
  return node.items ?? [node]
}

function readRule(node: Node, known: KnownNames['rules'], report: Report): void {
  const name = textOf(node)
  if (name === undefined || known?.has(name) !== false) return
  if (['none', 'null', ''].includes(name)) {
    const message = `There is no ${JSON.stringify(name)} under rules; null says that no rule decides.`
    report.add('GATE1504', node, message, null)
  } else {
    reportUnknown(name, node, known, 'under rules', report)
  }
}

function readFactors(node: Node | undefined, known: KnownNames, report: Report): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>()
  for (const { name, key, value } of entriesOf(node)) {
    reportUnknown(name, key, known.factors, 'under risk', report)
    const amount = readAmount(value, known.weights.get(name) ?? Number.POSITIVE_INFINITY, report)
    if (amount !== undefined) amounts.set(name, amount)
  }
  return amounts
}

/** Reads `{score}`, or the bounds of a range; its shape has been checked. */
function readRisk(node: Node | undefined, report: Report): Amount | undefined {
  if (node === undefined) return undefined
  const score = numberOf(memberOf(node, 'score'))
  if (score === undefined) return readRange(node, HIGHEST_SCORE, report)
  const bound = keyOf(node, 'min') ?? keyOf(node, 'max')
  if (bound !== undefined)
    report.add('GATE1503', bound, 'score says the number exactly; leave it out, or leave out min and max.')
  return { exactly: score }
}

/** Reads a number, or the bounds of a range. */
function readAmount(node: Node, most: number, report: Report): Amount | undefined {
  if (node.entries === undefined && typeof node.value !== 'number') {
    report.add('GATE1503', node, 'The value must be a number, or a mapping with min, max or both.')
    return undefined
  }
  if (typeof node.value === 'number') return checkExact(node, report) ? { exactly: node.value } : undefined
  return checkRange(node, report) ? readRange(node, most, report) : undefined
}

const HIGHEST_SCORE = 100

/** @param most the highest number that can be answered */
function readRange(node: Node, most: number, report: Report): Amount {
  const min = memberOf(node, 'min')
  const max = numberOf(memberOf(node, 'max'))
  const least = numberOf(min)
  if (min !== undefined && least !== undefined && max !== undefined && least > max) {
    report.add('GATE1507', min, `min (${least}) is above max (${max}), so that no number is in the range.`)
  }
  const place = keyOf(node, 'min') ?? keyOf(node, 'max')
  if (place !== undefined && (least ?? 0) <= 0 && (max ?? most) >= most)
    report.add('GATE2051', place, `Every answer is from 0 to ${most}. Narrow the bounds, or leave them out.`)
  return { min: least, max }
}
