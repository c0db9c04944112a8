import type { JsonObject } from '../base/json.ts'
import { errorDetail, schemaCompiler } from '../base/schema.ts'
import type { ActionDeclaration, Validate, Validators } from './set.ts'

export type SchemaCompiler = ReturnType<typeof schemaCompiler>

/** Shared by all actions of a set: making one costs more than using it. */
export function actionSchemaCompiler(): SchemaCompiler {
  return schemaCompiler({ allErrors: false, checked: true })
}

/** The compiled schemas of a declaration that was read without fault. */
export function validatorsOf({ context, plan }: ActionDeclaration, compiler: SchemaCompiler): Validators {
  return {
    context: context && validator('context', context, compiler),
    plan: plan && validator('plan', plan, compiler),
  }
}

function validator(root: 'context' | 'plan', schema: JsonObject, compiler: SchemaCompiler): Validate {
  const validate = compiler.compile(schema)
  return (value) => {
    if (validate(value)) return undefined
    const [error] = validate.errors ?? []
    if (error === undefined) return `${root} does not pass its schema`
    const { path, message } = errorDetail(error)
    return `${root}${path.replaceAll('/', '.')} ${message}`
  }
}
