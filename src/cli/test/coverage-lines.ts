import type { Boundary } from '../../authoring/cases/boundaries.ts'
import {
  type Branch,
  type CoverageItem,
  coverageTotal,
  missingBoundariesOf,
  missingOf,
  percentOf,
} from '../../authoring/cases/coverage.ts'
import { type Line, paint, table } from '../output.ts'

/** Labels for the outcomes of a rule or factor, and of a comparison. */
const RULE_WORDS: Record<Branch, string> = {
  true: 'matched',
  false: 'not matched',
  unknown: 'unevaluable',
  decided: 'decided',
}
const COMPARISON_WORDS: Record<Branch, string> = { ...RULE_WORDS, true: 'true', false: 'false', unknown: 'unknown' }

/** Outcomes that no case has reached and boundaries that no case has tried, with their places, then the total. */
export function coverageLines(items: readonly CoverageItem[]): Line[] {
  const rows = items.flatMap((item) => {
    const words = item.kind === 'comparison' ? COMPARISON_WORDS : RULE_WORDS
    const missing = [
      ...missingOf(item).map((outcome) => words[outcome]),
      ...missingBoundariesOf(item).map(boundaryText),
    ]
    if (missing.length === 0) return []
    return [[`${item.file}:${item.line}`, item.kind, item.name, paint('yellow', missing.join(', '))]]
  })
  const lines = rows.length === 0 ? [] : [...table(['PLACE', 'KIND', 'NAME', 'MISSING'], rows), '']
  return [...lines, totalLine(items)]
}

/** `at 1000`, or `just above (1001)` with a value to try. */
function boundaryText({ side, value }: Boundary): string {
  return side === 'at' ? `at ${value}` : `just ${side} (${value})`
}

/** `coverage: 92.3 % of outcomes (120 of 130), 7 of 8 boundaries` */
export function totalLine(items: readonly CoverageItem[]): string {
  const total = coverageTotal(items)
  const boundaries = total.boundaries === 0 ? '' : `, ${total.boundariesCovered} of ${total.boundaries} boundaries`
  return `coverage: ${percentOf(total)} % of outcomes (${total.covered} of ${total.outcomes})${boundaries}`
}

export function coverageJson(items: readonly CoverageItem[]) {
  const total = coverageTotal(items)
  return {
    percent: percentOf(total),
    ...total,
    items: items.map((item) => {
      const { kind, name, file, line, asked, seen } = item
      const boundaries = [...item.boundaries].map(([{ side, value }, times]) => ({ side, value, seen: times }))
      return { kind, name, file, line, asked, seen: Object.fromEntries(seen), missing: missingOf(item), boundaries }
    }),
  }
}
