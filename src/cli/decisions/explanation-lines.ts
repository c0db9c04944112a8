import type {
  ExplainedCondition,
  ExplainedFactor,
  ExplainedLeaf,
  ExplainedReference,
  ExplainedRequest,
  ExplainedRule,
  ExplainedScale,
  Explanation,
} from '../../gate/explain.ts'
import { SHADOW_FAILURES, type ShadowNote } from '../../gate/shadow.ts'
import type { Shown } from '../../gate/shown.ts'
import type { ApprovalTerms, Effect, Truth } from '../../policies/set.ts'
import { termsText } from '../approvals/terms.ts'
import { type Cell, columns, type Line, type Painted, paint } from '../output.ts'

export const EFFECT_STYLE: Record<Effect, Painted['style']> = {
  allow: 'green',
  deny: 'red',
  require_approval: 'yellow',
}
const MARK: Record<Truth, Painted> = {
  true: paint('green', 'yes'),
  false: paint('dim', 'no'),
  unknown: paint('yellow', '?'),
}
/** Characters of a value in a line. */
const MAX_VALUE = 40

/** Columns: result, comparison, actual value or effect, and place in the source. */
type Row = readonly [mark: Cell, asked: string, seen: string, place: Cell]

/** A decision, with or without an explanation. */
export interface DecisionSummary {
  decision: Effect
  observed?: Effect | undefined
  reason: string
  rule: string | null
  decidedBy: string
  /** Terms of the approval, if the action is held and they are known. */
  hold?: ApprovalTerms | null
}

/** The decision in a few lines: effect, reason, rule, and risk. */
export function decisionLines(summary: DecisionSummary, riskScore: number, why: Explanation | null): Line[] {
  const { decision, observed, reason, rule, decidedBy, hold = null } = summary
  const deciding = why?.rules.find(({ decides }) => decides)
  const thresholds = why?.thresholds ?? null
  const place = deciding === undefined ? '' : ` at ${deciding.file}:${deciding.line}`
  const limits =
    thresholds === null ? '' : ` (approval from ${thresholds.requireApproval}, denied from ${thresholds.deny})`
  return [
    [paint(EFFECT_STYLE[decision], decision)],
    ...observedLines(observed),
    `reason        ${reason}`,
    `decided by    ${decidedBy}${rule === null ? '' : `, rule ${rule}`}${place}`,
    ...(hold === null ? [] : [`approval      ${termsText(hold)}`]),
    `risk          ${riskScore}${limits}`,
  ]
}

/** A line about a decision of policies that are only observed. */
export function observedLines(observed: Effect | undefined): Line[] {
  return observed === undefined
    ? []
    : [['observed      ', paint('yellow', `${observed}: the policies were not enforced`)]]
}

/** A line about what the set in shadow would have decided otherwise, or why it said nothing. */
export function shadowLines(note: ShadowNote | undefined): Line[] {
  if (note === undefined) return []
  if ('failed' in note) return [`shadow        no answer: ${SHADOW_FAILURES[note.failed]}`]
  if (!('decision' in note)) return []
  const by = note.rule === null ? note.decidedBy : `rule ${note.rule}`
  return [['shadow        ', paint(EFFECT_STYLE[note.decision], note.decision), ` by ${by}, of ${note.digest}`]]
}

/** The whole explanation: each rule and risk factor of the action, with the facts of its conditions. */
export function explanationLines(why: Explanation): Line[] {
  const rules = [...why.rules.flatMap(rowsOfRule), ...moreRow(why.rulesLeftOut, 0)]
  const factors = factorRows(why)
  const lines = columns([...rules, ...factors])
  return [
    `request       ${requestText(why.request)}${why.domain === null ? '' : `; its domain is ${why.domain}`}`,
    '',
    rules.length === 0 ? 'no rule covers this action' : 'rules:',
    ...lines.slice(0, rules.length),
    ...(factors.length === 0 ? [] : ['', 'risk factors:']),
    ...lines.slice(rules.length),
  ]
}

export function factorLines(why: Explanation): Line[] {
  return columns(factorRows(why))
}

function requestText({ declared, validated, fault }: ExplainedRequest): string {
  if (fault !== null) return `does not fit: ${fault}`
  if (!declared) return 'not checked, because the action is not declared'
  return validated ? 'fits what the action declares' : 'fits what the action declares, but the plan names no action'
}

function rowsOfRule({ id, effect, outcome, matches, decides, condition, file, line }: ExplainedRule): Row[] {
  const counts = outcome === 'unknown' ? [`counts as ${matches ? 'yes' : 'no'}`] : []
  const seen = [...counts, ...(decides ? ['decides'] : [])].join(', ')
  return [[MARK[outcome], `${effect} ${id}`, seen, place(file, line)], ...rowsOfConditions(condition, 1)]
}

function factorRows({ factors, factorsLeftOut }: Explanation): Row[] {
  return [...factors.flatMap(rowsOfFactor), ...moreRow(factorsLeftOut, 0)]
}

function rowsOfFactor(factor: ExplainedFactor): Row[] {
  const { name, outcome, weight, contribution, condition, scale, file, line } = factor
  const scaled = scale === null ? [] : [scaleRow(scale, outcome)]
  const head: Row = [MARK[outcome], name, `adds ${contribution} of ${weight}`, place(file, line)]
  return [head, ...rowsOfConditions(condition, 1), ...scaled]
}

/** The fact of a scale is not read if the condition is false. */
function scaleRow(scale: ExplainedScale, outcome: Truth): Row {
  const { fact, from, to } = scale
  return ['', asked(1, `${fact} from ${from} to ${to}`), outcome === 'false' ? '' : seenText(scale), '']
}

function rowsOfConditions(condition: ExplainedCondition | undefined, depth: number): Row[] {
  if (condition === undefined) return []
  const mark = MARK[condition.outcome]
  if (condition.kind === 'leaf') {
    const { file, line } = condition
    return [[mark, asked(depth, comparisonText(condition)), seenText(condition), place(file, line)]]
  }
  const head: Row =
    condition.kind === 'condition'
      ? [mark, asked(depth, referenceText(condition)), '', place(condition.file, condition.line)]
      : [mark, asked(depth, GROUP_TEXT[condition.kind]), '', '']
  const below = condition.conditions.flatMap((one) => rowsOfConditions(one, depth + 1))
  return [head, ...below, ...moreRow(condition.leftOut, depth + 1)]
}

const GROUP_TEXT = { all: 'all of', any: 'any of', not: 'not' } as const

function comparisonText({ fact, operator, wanted }: ExplainedLeaf): string {
  const takesValue = operator !== 'exists' && operator !== 'missing'
  return takesValue ? `${fact} ${operator} ${valueText(wanted)}` : `${fact} ${operator}`
}

function referenceText({ name, conditions, leftOut }: ExplainedReference): string {
  return conditions.length === 0 && leftOut === 0 ? `condition ${name}, as above` : `condition ${name}`
}

function seenText({ seen, defaulted, overBudget }: Pick<ExplainedLeaf, 'seen' | 'defaulted' | 'overBudget'>): string {
  if (overBudget) return 'exceeds the work limit of a check'
  return seen === null ? 'is missing' : `is ${valueText(seen)}${defaulted ? ' (default)' : ''}`
}

export function valueText(value: Shown): string {
  if (!('value' in value)) return `${firstOf(value.beginning)} (${value.characters} characters)`
  const text = JSON.stringify(value.value)
  return text.length <= MAX_VALUE ? text : firstOf(text)
}

function firstOf(text: string): string {
  return `${Array.from(text).slice(0, MAX_VALUE).join('')}…`
}

function moreRow(count: number, depth: number): Row[] {
  return count === 0 ? [] : [['', asked(depth, `… ${count} more`), '', '']]
}

function asked(depth: number, text: string): string {
  return `${'  '.repeat(depth)}${text}`
}

function place(file: string, line: number): Painted {
  return paint('dim', `${file}:${line}`)
}
