import { type Branch, type CoverageItem, coverageTotal, missingOf, percentOf } from '../../authoring/cases/coverage.ts'
import { type Line, paint, table } from '../output.ts'

/** Labels for the outcomes of a rule or factor, and of a comparison. */
const RULE_WORDS: Record<Branch, string> = {
  true: 'matched',
  false: 'not matched',
  unknown: 'unevaluable',
  decided: 'decided',
}
const COMPARISON_WORDS: Record<Branch, string> = { ...RULE_WORDS, true: 'true', false: 'false', unknown: 'unknown' }

/** Outcomes that no case has reached, with their places, then the total. */
export function coverageLines(items: readonly CoverageItem[]): Line[] {
  const rows = items.flatMap((item) => {
    const missing = missingOf(item)
    if (missing.length === 0) return []
    const words = item.kind === 'comparison' ? COMPARISON_WORDS : RULE_WORDS
    const never = paint('yellow', missing.map((outcome) => words[outcome]).join(', '))
    return [[`${item.file}:${item.line}`, item.kind, item.name, never]]
  })
  const lines = rows.length === 0 ? [] : [...table(['PLACE', 'OF', 'WHAT', 'NEVER'], rows), '']
  return [...lines, totalLine(items)]
}

/** `coverage: 92.3 % of outcomes (120 of 130)` */
export function totalLine(items: readonly CoverageItem[]): string {
  const total = coverageTotal(items)
  return `coverage: ${percentOf(total)} % of outcomes (${total.covered} of ${total.outcomes})`
}

export function coverageJson(items: readonly CoverageItem[]) {
  const total = coverageTotal(items)
  return {
    percent: percentOf(total),
    ...total,
    items: items.map((item) => {
      const { kind, name, file, line, asked, seen } = item
      return { kind, name, file, line, asked, seen: Object.fromEntries(seen), missing: missingOf(item) }
    }),
  }
}
