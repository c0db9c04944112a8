import { formatDiagnostic } from '../src/authoring/diagnostics/text.ts'
import { counted } from '../src/base/counted.ts'
import { type Line, paint, table } from '../src/cli/output.ts'
import type { Difference, Result } from './compare.ts'
import type { AgtAnswer } from './table.ts'

/** All results together. */
export interface Summary {
  readonly policies: number
  readonly rules: number
  readonly inputs: number
  readonly agreed: number
  readonly refused: number
  readonly disagreed: number
  /** Policies that do not load. */
  readonly invalid: number
}

export function summaryOf(results: readonly Result[]): Summary {
  const sum = (count: (result: Result) => number): number => results.reduce((all, one) => all + count(one), 0)
  return {
    policies: results.length,
    rules: sum(({ rules }) => rules),
    inputs: sum(({ inputs }) => inputs),
    agreed: sum(({ agreed }) => agreed),
    refused: sum((result) => refusedIn(result).length),
    disagreed: sum((result) => disagreedIn(result).length),
    invalid: results.filter(({ diagnostics }) => diagnostics.some(({ severity }) => severity === 'error')).length,
  }
}

function refusedIn({ differences }: Result): readonly Difference[] {
  return differences.filter(({ refused }) => refused !== undefined)
}

function disagreedIn({ differences }: Result): readonly Difference[] {
  return differences.filter(({ refused }) => refused === undefined)
}

/** The report for people: a row for each policy, then every difference, refusal and fault. */
export function reportLines(results: readonly Result[]): Line[] {
  const rows = results.map((result) => [
    result.policy,
    ...[result.rules, result.inputs, result.agreed, refusedIn(result).length, disagreedIn(result).length].map(String),
  ])
  const { policies, rules, inputs, agreed, refused, disagreed } = summaryOf(results)
  return [
    ...table(['policy', 'rules', 'inputs', 'agreed', 'refused', 'disagreed'], rows),
    ...results.flatMap(faultLines),
    ...section('Rules that are not said, on purpose:', results, ({ refusals }) =>
      refusals.map(({ rule, reason }) => `${rule}: ${reason}`),
    ),
    ...section('Answered otherwise, on purpose:', results, (result) => refusedIn(result).map(differenceLine)),
    ...section('Disagreements:', results, (result) => disagreedIn(result).map(differenceLine)),
    '',
    `${policies} ${policies === 1 ? 'policy' : 'policies'}, ${counted(rules, 'rule')}, ${counted(inputs, 'input')}: ` +
      `${agreed} agreed, ${refused} refused on purpose, ${disagreed} disagreed.`,
  ]
}

function section(title: string, results: readonly Result[], linesOf: (result: Result) => readonly string[]): Line[] {
  const lines = results.flatMap((result) => {
    const found = linesOf(result)
    return found.length === 0 ? [] : [`  ${result.policy}`, ...found.map((line) => `    ${line}`)]
  })
  return lines.length === 0 ? [] : ['', [paint('bold', title)], ...lines]
}

function faultLines({ diagnostics }: Result): Line[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return errors.map((error) => formatDiagnostic(error, undefined))
}

function differenceLine({ id, expected, ours, refused }: Difference): string {
  const reason = refused === undefined ? '' : `; ${refused}`
  return `${id}: recorded ${inWords(expected)}, ours ${ours === undefined ? 'none' : inWords(ours)}${reason}`
}

function inWords({ action, matched_rule, evaluation_error }: AgtAnswer): string {
  if (evaluation_error) return `${action} by an error`
  return matched_rule === null ? `${action} by default` : `${action} by ${matched_rule}`
}
