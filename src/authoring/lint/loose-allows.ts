import { parseOperator } from '../../policies/decorators.ts'
import type { Candidate, Condition, Leaf, PolicyData, Rule } from '../../policies/set.ts'
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

/** A comparison of a rule, as a condition of what the rule lets through: what it allows, or does not restrain. */
export interface Passing {
  readonly leaf: Leaf
  /** True when the comparison must be false for a request to pass. */
  readonly isDenied: boolean
  /** Facts of which every item is asked for beside it. */
  readonly besides: ReadonlySet<string>
}

/** The comparisons of a rule or factor, each once for each way in which it lets something through. */
export function passingOf(about: Candidate & { effect?: string }, { conditions }: PolicyData): Passing[] {
  const passing: Passing[] = []
  const entered = new Set<string>()
  const walk = (node: Condition, isDenied: boolean, besides: ReadonlySet<string>): void => {
    if (node.kind === 'leaf') passing.push({ leaf: node, isDenied, besides })
    else if (node.kind === 'not') walk(node.condition, !isDenied, besides)
    else if (node.kind === 'condition') {
      const target = conditions.get(node.name)
      const way = `${isDenied} ${node.name}`
      if (target === undefined || entered.has(way)) return
      entered.add(way)
      walk(target, isDenied, besides)
    } else {
      const isJoint = (node.kind === 'all') !== isDenied
      const ofAll = isJoint ? node.conditions.flatMap((part) => askedOfAll(part, isDenied)) : []
      const below = ofAll.length === 0 ? besides : new Set([...besides, ...ofAll])
      for (const part of node.conditions) walk(part, isDenied, below)
    }
  }
  if (about.condition !== undefined) walk(about.condition, about.effect !== 'allow', new Set())
  return passing
}

function askedOfAll(part: Condition, isDenied: boolean): string[] {
  if (part.kind !== 'leaf') return []
  return quantifierOf(part, isDenied)?.isSome === false ? [part.fact.text] : []
}

/** How many items of a list must fit for a request to pass, or must not fit; undefined for a comparison of the whole. */
function quantifierOf({ operator }: Leaf, isDenied: boolean): { isSome: boolean; isNegated: boolean } | undefined {
  const decorators = decoratorsOf(operator)
  const at = decorators.findIndex((one) => one !== 'not')
  if (at < 0) return undefined
  const isOuter = (at % 2 === 1) !== isDenied
  const isInner = isOdd(decorators.slice(at + 1))
  return { isSome: (decorators[at] === 'someFact') !== isOuter, isNegated: isInner !== isOuter }
}

function decoratorsOf(operator: string): string[] {
  return operator.split(':').slice(0, -1)
}

function isOdd(decorators: readonly string[]): boolean {
  return decorators.filter((one) => one === 'not').length % 2 === 1
}

/** True when a request passes for which the comparison itself holds, its negations aside. */
export function passesIfTrue({ leaf, isDenied }: Passing): boolean {
  return isOdd(decoratorsOf(leaf.operator)) === isDenied
}

/** Reports a comparison by which a rule lets more through than its constant shows. */
export function adviseLoose(passing: Passing, rule: Rule, names: Names): void {
  const { leaf } = passing
  const parsed = parseOperator(leaf.operator)
  const beyond = parsed === undefined ? undefined : beyondOf(parsed.operator.name, String(leaf.wanted))
  if (beyond !== undefined && passesIfTrue(passing)) {
    const [example, meant] = beyond
    const message = `Rule ${rule.id} also ${lets(rule, example)}. Write ${meant ?? 'the whole host, and the slash after it'}.`
    names.report.add('GATE2110', memberOf(names.nodes.get(leaf), 'value') ?? placeOf(leaf, names), message, meant)
  }
  adviseItems(passing, rule, names)
}

/** `allows it`, or what a rule that restrains does with it. */
function lets({ effect }: Rule, it: string): string {
  return effect === 'allow' ? `allows ${it}` : `lets ${it} through`
}

/** Comparisons by which parts of a text are recognized, seldom to ask that one item of a list is there. */
const BY_PART = ['startsWith', 'endsWith', 'matches']

/** Reports a rule by which one item of a list decides for the others. */
function adviseItems({ leaf, isDenied, besides }: Passing, rule: Rule, names: Names): void {
  const { isSome, isNegated } = quantifierOf(leaf, isDenied) ?? {}
  if (isSome !== true || besides.has(leaf.fact.text)) return
  const isAllow = rule.effect === 'allow'
  // A rule may ask for an item that must be there, such as a label.
  if (!isAllow && isNegated === false && !BY_PART.includes(parseOperator(leaf.operator)?.operator.name ?? '')) return
  const [one, meant] = [isNegated ? 'does not fit' : 'fits', swapped(leaf.operator)]
  const message = isAllow
    ? `Rule ${rule.id} allows a list as soon as one item ${one}, whatever the others are. Ask with ${meant}.`
    : `Rule ${rule.id} does not apply to a list with one ${isNegated ? 'other item' : 'item that fits'}. Ask with ${meant}.`
  names.report.add('GATE2111', placeOf(leaf, names), message)
}

/** The decorators with the other quantifier. */
function swapped(operator: string): string {
  const others: Readonly<Record<string, string>> = { someFact: 'everyFact', everyFact: 'someFact' }
  return decoratorsOf(operator)
    .map((one) => others[one] ?? one)
    .join(':')
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
