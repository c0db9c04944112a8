import { DECORATORS, type ParsedOperator, parseOperator } from '../../policies/decorators.ts'
import { OPERATORS } from '../../policies/operators.ts'
import type { FactType } from '../../policies/set.ts'
import { closest, folded } from './closest.ts'
import { DECORATOR_WORDS, ITEM_WORDS, OPERATOR_WORDS } from './synonyms.ts'

/** Advice on an operator without an equivalent. */
export function operatorHint(text: string): string {
  if (folded(text) === 'between') return ' Write two conditions under all: greaterThanInclusive and lessThanInclusive.'
  if (DECORATORS.has(text)) return ` An operator follows it after a colon, as in ${text}:equal.`
  if (/^swap:|value:/i.test(text)) return ' The decorators are not, someFact and everyFact.'
  return suggestOperator(text) === undefined ? ` The operators are ${[...OPERATORS.keys()].join(', ')}.` : ''
}

/** The operator, with its decorators, that was probably meant. */
export function suggestOperator(text: string): string | undefined {
  const parts = text.split(/[:.]/).map((part) => part.trim())
  const operator = meantOperator(parts.pop() ?? '')
  const decorators = parts.map((part) => closest(part, DECORATORS.keys(), DECORATOR_WORDS))
  if (operator === undefined || decorators.includes(undefined)) return undefined
  // Operators that only look at whether the fact is there take no decorator.
  return OPERATORS.get(operator)?.value === 'none' ? operator : [...decorators, operator].join(':')
}

const NEGATION = /^(?:!|(?:does|do|is|has)?(?:not|nt)|non|no|un|n(?=equal|match|contain|exist))(.+)$/

/** Never an operator of the opposite meaning: a rule that takes it would do the contrary. */
function meantOperator(word: string): string | undefined {
  const plain = folded(word)
  const names = [...OPERATORS.keys()]
  if (OPERATOR_WORDS.has(plain) || names.some((name) => folded(name) === plain))
    return closest(word, names, OPERATOR_WORDS)
  if (ITEM_WORDS.has(plain)) return ITEM_WORDS.get(plain)
  const negated = NEGATION.exec(plain)?.[1]
  if (negated !== undefined) return oppositeOf(meantOperator(negated))
  const nearest = closest(word, names)
  const other = nearest === undefined ? '' : plain.replace(folded(nearest), '')
  // More letters around a whole name may give it another meaning, as in mismatches.
  return other.length > 2 && other !== plain ? undefined : nearest
}

function oppositeOf(operator: string | undefined): string | undefined {
  if (operator === undefined) return undefined
  const negated = OPERATORS.get(operator)?.opposite
  return negated ?? [...OPERATORS.values()].find(({ opposite }) => opposite === operator)?.name ?? `not:${operator}`
}

/** A similar operator that applies to the type. */
export function suitable(type: FactType, { operator, decorators }: ParsedOperator): string | undefined {
  const pairs: Partial<Record<FactType, Readonly<Record<string, string>>>> = {
    date: { lessThan: 'before', lessThanInclusive: 'before', greaterThan: 'after', greaterThanInclusive: 'after' },
    list: { equal: 'contains', notEqual: 'doesNotContain', in: 'someFact:in', inList: 'someFact:inList' },
    string: { contains: 'matches', doesNotContain: 'not:matches', before: 'lessThan' },
  }
  const meant = pairs[type]?.[operator.name]
  const suits = meant !== undefined && parseOperator(meant)?.operator.factTypes.includes(type) === true
  if (type === 'list' && meant === undefined) return `someFact:${operator.name}`
  return suits || meant?.startsWith('someFact') === true ? [...decorators, meant].join(':') : undefined
}

/** Operators that apply to facts of a type, as words. */
export function operatorsFor(type: FactType): string {
  const names = [...OPERATORS.values()].filter(({ factTypes }) => factTypes.includes(type)).map(({ name }) => name)
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
