import type { AgtAnswer, AgtPolicy, AgtRule } from '../../conformance/table.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'

/**
 * The toolkit's evaluator once more, after its Python code and not after the translation: rules by priority, the first that
 * matches decides, any error denies.
 */
export function evaluate(policy: AgtPolicy, context: JsonObject): AgtAnswer {
  const rules = [...policy.rules].sort((a, b) => b.priority - a.priority)
  try {
    const matched = rules.find((rule) => matchCondition(rule, context))
    const action = matched?.action ?? policy.defaultAction
    return {
      action,
      allowed: ['allow', 'audit'].includes(action),
      matched_rule: matched?.name ?? null,
      evaluation_error: false,
    }
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    return { action: 'deny', allowed: false, matched_rule: null, evaluation_error: true }
  }
}

class PythonError extends Error {}

function matchCondition({ field, operator, value: target }: AgtRule, context: JsonObject): boolean {
  const value = Object.hasOwn(context, field) ? (context[field] ?? null) : null
  if (value === null) return false
  switch (operator) {
    case 'eq':
      return equal(value, target)
    case 'ne':
      return !equal(value, target)
    case 'gt':
      return compare(value, target) > 0
    case 'lt':
      return compare(value, target) < 0
    case 'gte':
      return compare(value, target) >= 0
    case 'lte':
      return compare(value, target) <= 0
    case 'in':
      return isIn(value, target)
    case 'not_in':
      return !isIn(value, target)
    case 'contains':
      return isIn(target, value)
    case 'matches':
      return search(String(target), value)
    default:
      throw new Error(`no operator ${operator}`)
  }
}

/** `==`: bool is a kind of int. */
function equal(a: Json, b: Json): boolean {
  const [x, y] = [number(a), number(b)]
  if (x !== undefined || y !== undefined) return x === y
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null))
  if (!isMapping(a) || !isMapping(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null))
  )
}

/** Below zero, zero or above, as `<`, `==` and `>` have it; texts by code points, lists by their first difference. */
function compare(a: Json, b: Json): number {
  const [x, y] = [number(a), number(b)]
  if (x !== undefined && y !== undefined) return x - y
  if (typeof a === 'string' && typeof b === 'string') {
    const [mine, theirs] = [Array.from(a), Array.from(b)].map((text) => text.map((one) => one.codePointAt(0) ?? 0)) as [
      number[],
      number[],
    ]
    return compare(mine, theirs)
  }
  if (!Array.isArray(a) || !Array.isArray(b)) throw new PythonError('TypeError')
  const i = a.findIndex((item, at) => at >= b.length || !equal(item, b[at] ?? null))
  if (i < 0 || i >= b.length) return a.length - b.length
  return compare(a[i] ?? null, b[i] ?? null)
}

/** `item in container`. */
function isIn(item: Json, container: Json): boolean {
  if (typeof container === 'string' && typeof item === 'string') return container.includes(item)
  if (Array.isArray(container)) return container.some((one) => equal(item, one))
  if (!isMapping(container) || (typeof item === 'object' && item !== null)) throw new PythonError('TypeError')
  return typeof item === 'string' && Object.hasOwn(container, item)
}

/** `re.search` for patterns that JavaScript reads as Python does. What is no text is refused by the translation. */
function search(pattern: string, value: Json): boolean {
  if (typeof value !== 'string') return false
  const caseless = pattern.startsWith('(?i)')
  return new RegExp(pattern.slice(caseless ? 4 : 0), caseless ? 'iu' : 'u').test(value)
}

function number(value: Json): number | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : undefined
}

function isMapping(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
