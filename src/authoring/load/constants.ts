import type { Json } from '../../base/json.ts'
import { compilePattern } from '../../base/pattern.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { isScalar, type Lists, type Operator } from '../../policies/operators.ts'
import type { ValueFault } from '../diagnostics/diagnostics.ts'
import { patternFault, tooManyParts } from '../schemas/pattern-fault.ts'
import { coerced, listIn, numberIn } from '../suggest/meant.ts'
import { timeIn, timeOfEpoch, timeSentence } from '../suggest/time-constant.ts'
import { cidrFaults } from './cidr-constants.ts'
import { LIMITS } from './limits.ts'

/** Faults that keep an operator from taking a constant, followed by doubts about it as warnings. */
export function constantFaults(operator: Operator, value: Json | undefined, lists: Lists): ValueFault[] {
  const { name } = operator
  switch (operator.value) {
    case 'none':
      return value === undefined || value === true ? [] : [takesNoValue(name)]
    case 'scalar':
      return isScalar(value) ? [] : [unsuitable(name, `a text, a number or a boolean${scalarHint(operator, value)}`)]
    case 'scalars':
      return scalarsFaults(name, value, lists)
    case 'number':
      return typeof value === 'number' ? [] : [unsuitable(name, 'a number', numberIn(value))]
    case 'text':
      return textFaults(name, value)
    case 'pattern':
      return typeof value === 'string' ? patternFaults(value) : [unsuitable(name, 'a pattern in quotes', asText(value))]
    case 'list':
      return typeof value === 'string' && lists.has(value) ? [] : [unsuitable(name, 'the name of a list')]
    case 'cidr':
      return cidrFaults(value, unsuitable(name, 'an address range, or a list of them'))
    case 'time':
      return timeFaults(name, value)
  }
}

function unsuitable(name: string, wanted: string, suggestion?: Json): ValueFault {
  return { code: 'GATE1301', message: `${name} needs ${wanted}.`, suggestion }
}

function takesNoValue(name: string): ValueFault {
  const other = name === 'exists' ? 'missing' : 'exists'
  const message = `${name} takes no value; leave it out, or write ${other} for the opposite.`
  return { code: 'GATE1303', message }
}

function asText(value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : coerced(value, 'string')
}

/** Advice on what null, a list or a mapping could mean instead. */
function scalarHint({ factTypes }: Operator, value: Json | undefined): string {
  if (value === null) return '; ask with exists or missing whether there is a value'
  if (Array.isArray(value)) return factTypes.includes('list') ? '' : '; ask with in or notIn for one of several'
  return '; facts are compared with constants, not with each other'
}

function scalarsFaults(name: string, value: Json | undefined, lists: Lists): ValueFault[] {
  if (!Array.isArray(value)) {
    const isList = typeof value === 'string' && lists.has(value)
    const other = name === 'in' ? 'inList' : 'notInList'
    const hint = isList ? `; to ask the list ${JSON.stringify(value)}, write ${other}` : ''
    return [unsuitable(name, `a list of values in brackets${hint}`, isList ? undefined : listIn(value ?? null))]
  }
  if (value.length === 0) return [{ code: 'GATE1314', message: `${name} needs at least one value.` }]
  const message = `${name} needs texts, numbers or booleans.`
  return value.flatMap((member, item) => (isScalar(member) ? [] : [{ code: 'GATE1301', message, item }]))
}

function textFaults(name: string, value: Json | undefined): ValueFault[] {
  if (typeof value !== 'string') return [unsuitable(name, 'a text', asText(value))]
  return value === '' ? [{ code: 'GATE1314', message: `${name} needs a text that is not empty.` }] : []
}

function patternFaults(pattern: string): ValueFault[] {
  if (pattern.length > LIMITS.pattern) {
    const message = `The pattern has ${pattern.length} characters; at most ${LIMITS.pattern} are allowed.`
    return [{ code: 'GATE1305', message }]
  }
  const compiled = compilePattern(pattern)
  if ('fault' in compiled) return [{ code: 'GATE1304', message: patternFault(compiled.fault, 'condition') }]
  return compiled.size > LIMITS.patternParts ? [{ code: 'GATE1305', message: tooManyParts(compiled) }] : []
}

function timeFaults(name: string, value: Json | undefined): ValueFault[] {
  if (typeof value !== 'string') {
    const suggestion = typeof value === 'number' ? timeOfEpoch(value) : undefined
    return [unsuitable(name, 'a time with a zone such as 2026-01-31T09:00:00Z', suggestion)]
  }
  if (parseRfc3339(value) !== undefined) return []
  return [{ code: 'GATE1307', message: timeSentence(value), suggestion: timeIn(value) }]
}
