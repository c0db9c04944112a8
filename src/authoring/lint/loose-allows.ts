import { parseOperator } from '../../policies/decorators.ts'
import type { Leaf, Rule } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { memberOf } from '../yaml/node.ts'
import { placeOf } from './describe.ts'

/** A host name without what comes before it. */
const HOST = /^[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+$/
/** A scheme and host without the slash that ends the host. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i
/** A folder without the slash that ends its name. After other signs, the rest of a name is open on purpose. */
const FOLDER = /^(?:[A-Za-z]:|[.~])?\/.*[\p{L}\p{N}]$/u
/** A file name, which looks like a host. */
const FILE =
  /\.(?:md|txt|json|ya?ml|toml|ini|cfg|conf|env|lock|log|csv|pdf|html?|xml|[jt]sx?|py|sh|sql|png|jpe?g|zip|gz)$/i

/** Reports a comparison by which a rule allows more than its constant shows. */
export function adviseLoose(leaf: Leaf, rule: Rule, names: Names): void {
  const parsed = parseOperator(leaf.operator)
  const place = memberOf(names.nodes.get(leaf), 'value') ?? placeOf(leaf, names)
  const beyond = parsed === undefined ? undefined : beyondOf(parsed.operator.name, String(leaf.wanted))
  const decorators = leaf.operator.split(':').slice(0, -1)
  if (beyond !== undefined && !decorators.includes('not')) {
    const [example, meant] = beyond
    const message = `Rule ${rule.id} also allows ${example}. Write ${meant ?? 'the whole host, and the slash after it'}.`
    names.report.add('GATE2110', place, message, meant)
  }
  if (decorators.includes('someFact') && !decorators.includes('not')) {
    const message = `Rule ${rule.id} allows a list as soon as one item fits, whatever the others are. Ask with everyFact.`
    names.report.add('GATE2111', placeOf(leaf, names), message)
  }
}

/** Reports a rule that restrains only if all items of a list fit. */
export function adviseEvery(leaf: Leaf, rule: Rule, names: Names): void {
  const decorators = leaf.operator.split(':').slice(0, -1)
  if (!decorators.includes('everyFact') || decorators.includes('not')) return
  const message = `Rule ${rule.id} does not apply to a list with one other item. Ask with someFact.`
  names.report.add('GATE2111', placeOf(leaf, names), message)
}

/** A text that is allowed although it is of another host or folder, and the constant that was probably meant. */
function beyondOf(operator: string, wanted: string): [example: string, meant?: string] | undefined {
  if (operator === 'endsWith' && HOST.test(wanted)) {
    return FILE.test(wanted) ? [`other-${wanted}`, `/${wanted}`] : [`evil${wanted}`, `.${wanted}`]
  }
  if (operator !== 'startsWith') return undefined
  if (ORIGIN.test(wanted))
    return /[.-]$/.test(wanted) ? [`${wanted}evil.example`] : [`${wanted}.evil.example`, `${wanted}/`]
  return FOLDER.test(wanted) ? [`${wanted}-other`, `${wanted}/`] : undefined
}
