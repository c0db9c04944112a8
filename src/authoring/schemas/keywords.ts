export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
export const FORMATS = ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid']

const AMOUNT = { type: 'number', exclusiveMinimum: 0 }

/** Keywords of JSON Schema 2020-12 that a policy may use: the kind of value, the meaning, and an example. */
const TABLE = {
  items: ['schema', 'The schema of the items of a list, after those of prefixItems.', { type: 'string' }],
  contains: ['schema', 'A list has an item of this schema.', { const: 'urgent' }],
  additionalProperties: ['schema', 'The schema of members that properties does not name; false allows none.', false],
  unevaluatedProperties: ['schema', 'Like additionalProperties, after allOf, anyOf, $ref and the like.', false],
  unevaluatedItems: ['schema', 'The schema of items that no other keyword has looked at.', false],
  propertyNames: ['schema', 'The schema of the names of members.', { pattern: '^[a-z]+$' }],
  not: ['schema', 'This schema does not hold.', { required: ['force'] }],
  if: ['schema', 'If this schema holds, then must hold, otherwise else.', { required: ['iban'] }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: ['schema', 'Holds where if does.', { required: ['country'] }],
  else: ['schema', 'Holds where if does not.', { required: ['card'] }],
  properties: ['schemas', 'Schemas of the members of an object, by name.', { amount: AMOUNT }],
  $defs: ['schemas', 'Schemas that $ref leads to, by name.', { amount: AMOUNT }],
  dependentSchemas: ['schemas', 'Schemas that hold when a member is there.', { iban: { required: ['country'] } }],
  allOf: ['schemaList', 'All of these schemas hold.', [{ required: ['amount'] }]],
  anyOf: ['schemaList', 'One of these schemas holds, or more.', [{ required: ['iban'] }, { required: ['card'] }]],
  oneOf: ['schemaList', 'Exactly one of these schemas holds.', [{ required: ['iban'] }, { required: ['card'] }]],
  prefixItems: ['schemaList', 'Schemas of the first items of a list, in their order.', [{ type: 'string' }]],
  minimum: ['number', 'A number is at least this.', 0],
  maximum: ['number', 'A number is at most this.', 10000],
  exclusiveMinimum: ['number', 'A number is above this.', 0],
  exclusiveMaximum: ['number', 'A number is below this.', 100],
  multipleOf: ['positive', 'A number is a multiple of this.', 0.01],
  minLength: ['count', 'A text has at least as many characters.', 1],
  maxLength: ['count', 'A text has at most as many characters.', 200],
  minItems: ['count', 'A list has at least as many items.', 1],
  maxItems: ['count', 'A list has at most as many items.', 50],
  minProperties: ['count', 'An object has at least as many members.', 1],
  maxProperties: ['count', 'An object has at most as many members.', 20],
  minContains: ['count', 'So many items at least are as contains says.', 1],
  maxContains: ['count', 'So many items at most are as contains says.', 1],
  title: ['text', 'A short name, for readers.', 'Amount'],
  description: ['text', 'Meaning of the value, for readers.', 'Gross amount in EUR.'],
  $comment: ['text', 'A remark for authors of the schema.', 'As the bank has it.'],
  uniqueItems: ['flag', 'No two items are equal. Needs maxItems of at most 1000.', true],
  deprecated: ['flag', 'Should not be used any more; for readers.', true],
  readOnly: ['flag', 'Is not sent by callers; for readers.', true],
  writeOnly: ['flag', 'Is not sent back; for readers.', true],
  const: ['any', 'The one value that is allowed.', 'EUR'],
  default: ['any', 'Value assumed when it is left out, for readers; it is not filled in.', 'EUR'],
  enum: ['list', 'The values that are allowed.', ['EUR', 'USD']],
  examples: ['list', 'Values that pass, for readers.', [25]],
  type: ['type', 'The type of the value, or a list of types.', 'object'],
  required: ['names', 'Members that must be there.', ['amount']],
  dependentRequired: ['needs', 'Members that must be there when another is.', { iban: ['country'] }],
  pattern: ['pattern', 'Some part of a text matches this RE2 pattern; anchor it with ^ and $.', '^[A-Z]{2}$'],
  patternProperties: [
    'patterns',
    'Schemas of the members whose names match an RE2 pattern.',
    { '^x-': { type: 'string' } },
  ],
  format: ['format', 'Format of the text.', 'date-time'],
  $ref: ['ref', 'A schema under $defs of the same schema.', '#/$defs/amount'],
} as const

type Keyword = (typeof TABLE)[keyof typeof TABLE]
/** Kind of value that a keyword takes. */
export type Kind = Keyword[0]

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(Object.entries(TABLE))
