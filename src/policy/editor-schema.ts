import Type from 'typebox'
import { DECORATORS } from './decorators.ts'
import { OPERATORS } from './operators.ts'
import { documentShape } from './shapes.ts'
import { editorTestFile } from './tests/shapes.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** The JSON Schema of a policy file that editors use, conditions included. */
export function editorSchema(): Record<string, unknown> {
  return {
    $schema: DIALECT,
    $id: 'urn:gate-sidecar:schema:policy',
    title: 'gate-sidecar policy',
    description: 'A file of policies/<tenant>/. All files of the folder form one set.',
    ...documentShape(Type.Unsafe<unknown>({ $ref: '#/$defs/condition' })),
    $defs: { condition: conditionSchema() },
  }
}

/** The JSON Schema of a `*.test.yaml` file that editors use. */
export function testFileSchema(): Record<string, unknown> {
  return {
    $schema: DIALECT,
    $id: 'urn:gate-sidecar:schema:test',
    title: 'gate-sidecar policy tests',
    description: 'A *.test.yaml file of policies/<tenant>/: what the policies must decide.',
    ...editorTestFile(),
  }
}

function conditionSchema(): Record<string, unknown> {
  const reference = { $ref: '#/$defs/condition' }
  const some = { type: 'array', minItems: 1, items: reference }
  const form = (properties: Record<string, unknown>, required: string[]) => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  })
  return {
    anyOf: [
      form({ fact: { type: 'string' }, operator: operatorSchema(), value: {} }, ['fact', 'operator']),
      form({ all: some }, ['all']),
      form({ any: some }, ['any']),
      form({ not: reference }, ['not']),
      form({ condition: { type: 'string', description: 'A name under conditions.' } }, ['condition']),
    ],
  }
}

/** The names, which an editor offers, and the names with decorators before them. */
function operatorSchema(): Record<string, unknown> {
  const names = [...OPERATORS.keys()]
  const decorated = `^(?:(?:${[...DECORATORS.keys()].join('|')}):)+(?:${names.join('|')})$`
  return { anyOf: [{ enum: names }, { type: 'string', pattern: decorated }] }
}
