import type { TSchema } from 'typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { type ErrorObject, schemaCompiler } from '../base/schema.ts'
import type { DiagnosticCode } from './codes.ts'
import { firstKeyOf, keyOf, type Node, type Place, wordOf } from './node.ts'
import type { Report } from './report.ts'
import { closest } from './suggest.ts'

/** Reports every way in which a node differs from a shape; true when there is none. */
export type ShapeCheck = (node: Node, report: Report) => boolean

/** How the faults of a shape are reported, by ajv's keyword and the value that is at fault. */
export type ShapeCodes = (keyword: string, node: Node) => DiagnosticCode

interface Fault {
  code: DiagnosticCode
  place: Place
  message: string
  suggestion?: string | undefined
}

const CODES: Record<string, DiagnosticCode> = {
  additionalProperties: 'GATE1101',
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

/** The code of policy files; keywords that no shape uses are faults of type. */
export function policyCode(keyword: string, node: Node): DiagnosticCode {
  if (keyword === 'propertyNames' && node.path === '$.actions') return 'GATE1115'
  if (keyword === 'const' && node.path === '$.apiVersion') return 'GATE1109'
  if (keyword === 'enum' && node.path === '$.defaults.decision' && node.value === 'allow') return 'GATE1112'
  return CODES[keyword] ?? 'GATE1103'
}

/** Compiles a check of nodes against a shape. */
export function shapeCheck(shape: TSchema, codeOf: ShapeCodes): ShapeCheck {
  const validate = schemaCompiler({ allErrors: true, checked: true }).compile(shape)
  return (node, report) => {
    if (validate(node.value)) return true
    for (const error of validate.errors ?? []) {
      // The name at fault is reported by the error of the keyword propertyNames itself.
      if (error.propertyName !== undefined && error.keyword !== 'propertyNames') continue
      const fault = faultOf(error, nodeAt(node, error.instancePath), shape, codeOf)
      report.add(fault.code, fault.place, fault.message, fault.suggestion)
    }
    return false
  }
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

function faultOf(error: ErrorObject, node: Node, shape: TSchema, codeOf: ShapeCodes): Fault {
  const params: Record<string, unknown> = error.params
  const code = codeOf(error.keyword, node)
  const at = (place: Place, message: string, suggestion?: string) => ({ code, place, message, suggestion })
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const known = propertiesAt(shape, error.schemaPath)
      return at(keyOf(node, name) ?? node, `There is no key ${JSON.stringify(name)} here.`, closest(name, known))
    }
    case 'required':
      return at(firstKeyOf(node), `The key ${String(params.missingProperty)} is missing.`)
    case 'propertyNames': {
      const name = String(params.propertyName)
      const extra = code === 'GATE1115' ? '_ . : / -' : '_ . -'
      return at(
        keyOf(node, name) ?? node,
        `${JSON.stringify(name)} is malformed: letters, digits and ${extra}, at most 128.`,
      )
    }
    case 'enum':
    case 'const': {
      const allowed = error.keyword === 'enum' ? (params.allowedValues as unknown[]) : [params.allowedValue]
      const names = allowed.map(String)
      if (code === 'GATE1112')
        return at(node, 'allow cannot be the default: what no rule allows is denied or held.', 'deny')
      return at(node, `The value must be ${either(names)}.`, closest(wordOf(node), names))
    }
    case 'type':
      return at(
        node,
        `The value must be ${typeNames(params.type)}${node.value === null ? ', and nothing is written' : ''}.`,
      )
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return at(node, 'The value must not be empty.')
    case 'pattern':
      if (params.pattern === ACTION_PATTERN) {
        const made = 'letters, digits and _ . : / -, at most 128'
        return at(node, `${JSON.stringify(wordOf(node))} is no action: ${made}; a pattern with * stands for none.`)
      }
      return at(
        node,
        'A name is made of letters, digits and _ . -, at most 128, and begins with a letter, a digit or _.',
      )
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
      return at(node, `The value must be ${COMPARISONS[String(params.comparison)]} ${String(params.limit)}.`)
    default:
      return at(node, `The value ${error.message ?? 'is not valid'}.`)
  }
}

const COMPARISONS: Record<string, string> = { '>=': 'at least', '>': 'above', '<=': 'at most', '<': 'below' }

/** `a, b or c`. */
function either(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

function typeNames(type: unknown): string {
  const names: Record<string, string> = {
    object: 'a mapping',
    array: 'a list',
    string: 'a text',
    number: 'a number',
    integer: 'an integer',
    boolean: 'true or false',
  }
  const types = Array.isArray(type) ? type.map(String) : String(type).split(',')
  return either(types.map((name) => names[name] ?? name))
}

/** The keys that the object at ajv's schemaPath (`#/properties/risk/items/additionalProperties`) knows. */
function propertiesAt(shape: TSchema, schemaPath: string): string[] {
  let schema: unknown = shape
  for (const token of schemaPath.split('/').slice(1, -1)) schema = child(schema, decodeURIComponent(token))
  const properties = child(schema, 'properties')
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function child(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
