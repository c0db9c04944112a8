export type Schema = { readonly [keyword: string]: unknown }

export const EXAMPLE_REQUEST_ID = 'req_01m7yzzehm3v6c9n2x5b8k1q4w'

/** Pattern that TypeBox writes for a record with any member names. */
const ANY_NAME = '^.*$'

/** Collects titled schemas, so that each is declared once, under its name. */
export function componentsOf() {
  const named = new Map<string, Schema>()

  const converted = (schema: Schema): Schema => {
    const { title } = schema
    if (typeof title !== 'string') return members(schema)
    if (!named.has(title)) named.set(title, members(schema))
    return { $ref: `#/components/schemas/${title}` }
  }

  const members = ({ title: _, ...schema }: Schema): Schema =>
    Object.fromEntries(Object.entries(schema).map(([keyword, value]) => member(keyword, value)))

  // Only these keywords of our shapes hold schemas; other keywords hold values.
  const member = (keyword: string, value: unknown): [string, unknown] => {
    if (keyword === 'properties') return [keyword, each(value as Schema)]
    if (keyword === 'patternProperties') return ['additionalProperties', each(value as Schema)[ANY_NAME]]
    if (keyword === 'items') return [keyword, converted(value as Schema)]
    if (keyword === 'anyOf') return [keyword, (value as Schema[]).map(converted)]
    return [keyword, value]
  }

  const each = (schemas: Schema): Schema =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, converted(schema as Schema)]))

  return {
    /** Returns the schema, or a reference to it. */
    of: (schema: object): Schema => converted(schema as Schema),
    /** All named schemas that were used, by name. */
    schemas: (): Schema => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Turns a summary of the route table, or the meaning of a code, into a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
