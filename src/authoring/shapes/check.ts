import type { TSchema } from '#typebox'
import { ACTION_PATTERN } from '../../base/glob.ts'
import { once } from '../../base/memo.ts'
import { type ErrorObject, schemaCompiler } from '../../base/schema.ts'
import type { DiagnosticCode } from '../diagnostics/codes.ts'
import type { Report } from '../diagnostics/report.ts'
import { closest, type Synonyms } from '../suggest/closest.ts'
import { meantKey, unknownKey } from '../suggest/key-repair.ts'
import { nameIn } from '../suggest/meant.ts'
import { EFFECT_WORDS, ENVIRONMENT_WORDS, FACT_TYPE_WORDS, STEP_WORDS } from '../suggest/synonyms.ts'
import type { Suggestion } from '../suggest/written.ts'
import { firstKeyOf, keyOf, type Node, nullHint, type Place, wordOf } from '../yaml/node.ts'
import { either, keysAt, typeFault } from './meant.ts'
import { NAME_PATTERN, STEP_PATTERN } from './parts.ts'

/** Reports every way in which a node differs from a shape; true when there is none. */
export type ShapeCheck = (node: Node, report: Report) => boolean

/**
 * Code of a fault, undefined for faults that are reported elsewhere: by ajv's keyword, the value at fault, and ajv's
 * path of the keyword.
 */
export type ShapeCodes = (keyword: string, node: Node, schemaPath: string) => DiagnosticCode | undefined

interface Fault {
  place: Place
  message: string
  suggestion?: Suggestion | undefined
}

const CODES: Record<string, DiagnosticCode> = {
  required: 'GATE1102',
  type: 'GATE1103',
  enum: 'GATE1104',
  const: 'GATE1104',
  minLength: 'GATE1105',
  minItems: 'GATE1105',
  minimum: 'GATE1106',
  maximum: 'GATE1106',
  exclusiveMinimum: 'GATE1106',
  pattern: 'GATE1107',
  propertyNames: 'GATE1107',
}

/** Code of a fault in a policy file; keywords that no shape uses are faults of type. */
export function policyCode(keyword: string, node: Node, schemaPath: string): DiagnosticCode | undefined {
  // Unknown keys are reported when the keys that were meant are read (key-repair.ts).
  if (keyword === 'additionalProperties') return undefined
  if (keyword === 'propertyNames' && schemaPath === '#/properties/actions/propertyNames') return 'GATE1115'
  if (keyword === 'const' && schemaPath === '#/properties/apiVersion/const') return 'GATE1109'
  const isDefault = ['#/properties/defaults/type', '#/properties/defaults/properties/decision/enum'].includes(
    schemaPath,
  )
  if (isDefault && closest(wordOf(node), ['allow'], EFFECT_WORDS) === 'allow') return 'GATE1112'
  return CODES[keyword] ?? 'GATE1103'
}

const compiler = once(() => schemaCompiler({ allErrors: true, checked: true }))

/**
 * Creates a check of nodes against a shape. Compiled at the first use: a command that only loads policies needs no
 * shapes of tests.
 */
export function shapeCheck(shape: TSchema, codeOf: ShapeCodes): ShapeCheck {
  const validator = once(() => compiler().compile(shape))
  return (node, report) => {
    const validate = validator()
    if (validate(node.value)) return true
    const errors = validate.errors ?? []
    const fixed = new Set(errors.filter(({ keyword }) => keyword === 'const').map((error) => error.instancePath))
    for (const error of errors) {
      // Where only one value is allowed, a fault of its type adds nothing.
      if (error.keyword === 'type' && fixed.has(error.instancePath)) continue
      // The name at fault is reported by the error of the keyword propertyNames itself.
      if (error.propertyName !== undefined && error.keyword !== 'propertyNames') continue
      const at = nodeAt(node, error.instancePath)
      if (error.keyword === 'required' && holdsKeysOf(at, error, shape)) continue
      const code = codeOf(error.keyword, at, error.schemaPath)
      if (code === undefined) continue
      const fault = faultOf(code, error, at, shape)
      report.add(code, fault.place, fault.message, fault.suggestion)
    }
    return false
  }
}

/** True when keys of the missing mapping stand beside it, each of which is reported as misplaced. */
function holdsKeysOf(node: Node, { schemaPath, params }: ErrorObject, shape: TSchema): boolean {
  const missing = keysAt(
    shape,
    schemaPath.replace(/required$/, `properties/${String(params.missingProperty)}/required`),
  )
  const known = keysAt(shape, schemaPath)
  return missing.some((key) => !known.includes(key) && node.entries?.has(key) === true)
}

function nodeAt(root: Node, pointer: string): Node {
  let node = root
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const child = node.items === undefined ? node.entries?.get(key)?.value : node.items[Number(key)]
    if (child === undefined) return node
    node = child
  }
  return node
}

function faultOf(code: DiagnosticCode, error: ErrorObject, node: Node, shape: TSchema): Fault {
  const params: Record<string, unknown> = error.params
  const at = (place: Place, message: string, suggestion?: Suggestion) => ({ place, message, suggestion })
  if (code === 'GATE1112') {
    const suggestion = error.keyword === 'type' ? { decision: 'deny' } : 'deny'
    return at(node, 'allow cannot be the default: an action that no rule allows is denied or held.', suggestion)
  }
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const known = keysAt(shape, error.schemaPath)
      const suggestion = meantKey(name, new Set(known))
      return at(keyOf(node, name) ?? node, unknownKey(name, known, suggestion), suggestion)
    }
    case 'required':
      return at(firstKeyOf(node), `The key ${String(params.missingProperty)} is missing.`)
    case 'propertyNames': {
      const name = String(params.propertyName)
      const { extra, pattern } = NAMES[code === 'GATE1115' ? 'action' : isStep(error) ? 'step' : 'name']
      const message = `${JSON.stringify(name.slice(0, 200))} is malformed: letters, digits and ${extra}, at most 128`
      if (code === 'GATE1115' && name.includes('*'))
        return at(keyOf(node, name) ?? node, `${message}; a pattern with * declares no action.`)
      return at(keyOf(node, name) ?? node, `${message}.`, nameIn(name, pattern))
    }
    case 'enum':
    case 'const':
      return at(node, ...choiceFault(error, node))
    case 'type':
      return at(node, ...typeFault(error, node, shape))
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return at(node, 'The value must not be empty.')
    case 'pattern':
      if (params.pattern === ACTION_PATTERN) {
        const made = 'letters, digits and _ . : / -, at most 128'
        return at(node, `${JSON.stringify(wordOf(node))} is not an action: ${made}; a pattern with * is not an action.`)
      }
      return at(
        node,
        'A name is made of letters, digits and _ . -, at most 128, and begins with a letter, a digit or _.',
        nameIn(wordOf(node), NAMES.name.pattern),
      )
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
      return at(node, `The value must be ${COMPARISONS[String(params.comparison)]} ${String(params.limit)}.`)
    default:
      return at(node, `The value ${error.message ?? 'is not valid'}.`)
  }
}

/** Form of names: the characters besides letters and digits, and the whole pattern. */
const NAMES = {
  action: { extra: '_ . : / -', pattern: new RegExp(ACTION_PATTERN) },
  name: { extra: '_ . -', pattern: new RegExp(NAME_PATTERN) },
  step: { extra: '_ -', pattern: new RegExp(STEP_PATTERN) },
}

/** True for a name that is a step of a fact path. */
function isStep({ schemaPath }: ErrorObject): boolean {
  return /\/(?:count|sum|taken)\/propertyNames$/.test(schemaPath)
}

/** Synonyms of enum values, by the last value. */
const WORDS: ReadonlyMap<string, Synonyms> = new Map([
  ['object', FACT_TYPE_WORDS],
  ['test', ENVIRONMENT_WORDS],
  ['default', STEP_WORDS],
])

/** Sentence and suggestion for a value that is not among those allowed. */
function choiceFault(error: ErrorObject, node: Node): [string, string | undefined] {
  const params: Record<string, unknown> = error.params
  const names = (error.keyword === 'enum' ? (params.allowedValues as unknown[]) : [params.allowedValue]).map(String)
  const words = WORDS.get(names.at(-1) ?? '') ?? EFFECT_WORDS
  const word = wordOf(node.items?.length === 1 ? node.items[0] : node)
  const suggestion = error.keyword === 'const' ? names[0] : closest(word, names, words)
  return [`The value must be ${either(names)}${nullHint(node)}.`, suggestion]
}

const COMPARISONS: Record<string, string> = { '>=': 'at least', '>': 'above', '<=': 'at most', '<': 'below' }
