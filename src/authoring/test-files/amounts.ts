import type { Report } from '../diagnostics/report.ts'
import { shapeCheck } from '../shapes/check.ts'
import { keyOf, memberOf, type Node, numberOf } from '../yaml/node.ts'
import type { Amount } from './cases.ts'
import { AmountRange, ExactAmount } from './expectation-shapes.ts'
import { testCode } from './shapes.ts'

const checkExact = shapeCheck(ExactAmount, testCode)
const checkRange = shapeCheck(AmountRange, testCode)

/** Reads `{score}`, or the bounds of a range; its shape has been checked. */
export function readRisk(node: Node | undefined, report: Report): Amount | undefined {
  if (node === undefined) return undefined
  const score = numberOf(memberOf(node, 'score'))
  if (score === undefined) return readRange(node, report)
  const bound = keyOf(node, 'min') ?? keyOf(node, 'max')
  if (bound !== undefined)
    report.add('GATE1503', bound, 'score says the number exactly; leave it out, or leave out min and max.')
  return { exactly: score }
}

/** Reads a number, or the bounds of a range. */
export function readAmount(node: Node, report: Report): Amount | undefined {
  if (node.entries === undefined && typeof node.value !== 'number') {
    report.add('GATE1503', node, 'The value must be a number, or a mapping with min, max or both.')
    return undefined
  }
  if (typeof node.value === 'number') return checkExact(node, report) ? { exactly: node.value } : undefined
  return checkRange(node, report) ? readRange(node, report) : undefined
}

function readRange(node: Node, report: Report): Amount {
  const min = memberOf(node, 'min')
  const max = numberOf(memberOf(node, 'max'))
  const least = numberOf(min)
  if (min !== undefined && least !== undefined && max !== undefined && least > max) {
    report.add('GATE1507', min, `min (${least}) is above max (${max}), so that no number is in the range.`)
  }
  return { min: least, max }
}
