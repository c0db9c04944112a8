/** Kind of value that a keyword takes. */
export type Kind =
  | 'schema'
  | 'schemas'
  | 'schemaList'
  | 'type'
  | 'number'
  | 'count'
  | 'text'
  | 'names'
  | 'list'
  | 'flag'
  | 'any'
  | 'pattern'
  | 'format'
  | 'ref'
  | 'patterns'
  | 'needs'

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
export const FORMATS = ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid']

/** Keywords of JSON Schema 2020-12 that a policy may use, with their kinds. */
export const KEYWORDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...each(
    'schema',
    'items',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedItems',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
  ),
  ...each('schemas', 'properties', '$defs', 'dependentSchemas'),
  ...each('schemaList', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...each('number', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
  ...each(
    'count',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ),
  ...each('text', 'title', 'description', '$comment'),
  ...each('flag', 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...each('any', 'const', 'default'),
  ...each('list', 'enum', 'examples'),
  ['type', 'type'],
  ['required', 'names'],
  ['dependentRequired', 'needs'],
  ['pattern', 'pattern'],
  ['patternProperties', 'patterns'],
  ['format', 'format'],
  ['$ref', 'ref'],
])

function each(kind: Kind, ...keywords: string[]): [string, Kind][] {
  return keywords.map((keyword) => [keyword, kind])
}
