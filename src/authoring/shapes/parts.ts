import * as Type from '#typebox'

/** Pattern of the names of rules, factors, lists, conditions and domains. */
export const NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$'
/** Pattern of names that stand between the dots of a fact path. */
export const STEP_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$'

export const CLOSED = { additionalProperties: false }
export const TEXT = { minLength: 1 }

/** A text that is not empty. */
export function text(description: string, ...examples: string[]) {
  return Type.String({ ...TEXT, description, examples })
}

/** A list of such texts that is not empty. */
export function names(description: string, ...example: string[]) {
  return Type.Array(Type.String(TEXT), { minItems: 1, description, examples: [example] })
}

export const Globs = Type.Array(Type.String(), {
  minItems: 1,
  description: 'Action patterns: * is one segment or part of one, ** any number of segments.',
  examples: [['payment.transfer', 'payment.refund'], ['payment.*'], ['**']],
})

export const Description = Type.String({ description: 'For readers of the file.', examples: ['Asked for by finance.'] })

/** The name of a part of a set, by which others refer to it. */
export function nameOf(description: string, example: string) {
  return Type.String({ pattern: NAME_PATTERN, description, examples: [example] })
}

/** Shown by editors. */
interface Notes {
  title?: string
  description: string
  examples?: unknown[]
}

/** A mapping that has the keys of `required`, may have those of `optional`, and has no others. */
export function closed<R extends Type.TProperties, O extends Type.TProperties>(
  required: R,
  optional: O,
  notes?: Notes,
) {
  return Type.Object({ ...required, ...Type.Partial(Type.Object(optional)).properties }, { ...CLOSED, ...notes })
}

/** A mapping from names to values. Not Type.Record, which cannot tell a malformed name from an unknown key. */
export function byName<S extends Type.TSchema>(pattern: string, value: S, notes: Required<Omit<Notes, 'title'>>) {
  return Type.Unsafe<Record<string, Type.Static<S>>>({
    type: 'object',
    ...notes,
    propertyNames: { pattern },
    additionalProperties: value,
  })
}
