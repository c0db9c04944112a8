import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { guessDomains } from '../../src/authoring/starter/domains.ts'
import { readToolLines, readTools, type Tool } from '../../src/authoring/starter/list.ts'
import { type Starter, starterFor } from '../../src/authoring/starter/starter.ts'
import { type Json, type JsonObject, parseJson } from '../../src/base/json.ts'
import { isVisible } from '../../src/base/visible.ts'
import { runs } from '../tier.ts'
import { assertFolderHolds } from './test-files.ts'

function starter(tools: readonly Tool[]): Starter {
  const made = starterFor('acme', tools)
  if ('fault' in made) assert.fail(made.fault)
  return made
}

function toolsOf(text: string): readonly Tool[] {
  const list = readTools(parseJson(text, { maxDepth: 40 }))
  if ('fault' in list) assert.fail(list.fault)
  return list.tools
}

/** Maps each action to the rule that covers it. */
function rulesByAction({ rules }: Starter): Record<string, string> {
  return Object.fromEntries(rules.flatMap(({ id, actions }) => actions.map((action) => [action, id])))
}

const main = ({ files }: Starter): string => files[0]?.text ?? ''

for (const name of ['openai', 'anthropic', 'mcp', 'agents']) {
  test(`starter: the tools of ${name}.json make a sound folder whose tests hold, with each rule tested`, async () => {
    const made = starter(toolsOf(readFileSync(new URL(`../testdata/tools/${name}.json`, import.meta.url), 'utf8')))
    const { decided } = await assertFolderHolds('acme', made.files)
    assert.deepEqual(
      made.rules.map(({ id }) => id).filter((id) => !decided.has(id)),
      [],
    )
  })
}

test('starter: without tools, three examples', async () => {
  const made = starter([])
  await assertFolderHolds('acme', made.files)
  assert.deepEqual(rulesByAction(made), {
    'document.search': 'reading',
    'email.send': 'destructive',
    'ticket.update': 'other',
  })
})

const GUESSES: { tool: Tool; rule: string; why: RegExp }[] = [
  { tool: { name: 'get_balance' }, rule: 'reading', why: /its name says get/ },
  { tool: { name: 'searchFlights' }, rule: 'reading', why: /its name says search/ },
  { tool: { name: 'users.list' }, rule: 'reading', why: /its name says list/ },
  { tool: { name: 'mcp__github__search_issues' }, rule: 'reading', why: /its name says search/ },
  { tool: { name: 'delete_file' }, rule: 'destructive', why: /its name says delete/ },
  { tool: { name: 'payment.transfer' }, rule: 'destructive', why: /its name says transfer/ },
  { tool: { name: 'get_and_delete_mail' }, rule: 'destructive', why: /its name says delete/ },
  { tool: { name: 'get_or_create_user' }, rule: 'other', why: /its name says or/ },
  { tool: { name: 'mark_read' }, rule: 'other', why: /nothing says that it only reads/ },
  { tool: { name: 'frobnicate' }, rule: 'other', why: /nothing says that it only reads/ },
  { tool: { name: 'frobnicate', readOnly: true }, rule: 'reading', why: /it says readOnlyHint/ },
  { tool: { name: 'get_it', readOnly: false }, rule: 'other', why: /it says that it does more than read/ },
  { tool: { name: 'get_it', destructive: true }, rule: 'destructive', why: /it says destructiveHint/ },
  { tool: { name: 'delete_it', readOnly: true }, rule: 'other', why: /it says readOnlyHint, but its name says delete/ },
  { tool: { name: 'a', readOnly: true, destructive: true }, rule: 'destructive', why: /both readOnlyHint and/ },
  { tool: { name: 'send_it', destructive: false }, rule: 'destructive', why: /its name says send/ },
]
for (const { tool, rule, why } of GUESSES) {
  const { name, ...hints } = tool
  test(`starter: ${name} ${JSON.stringify(hints)} is covered by ${rule}`, () => {
    const made = starter([tool])
    assert.deepEqual(rulesByAction(made), { [name]: rule })
    assert.match(
      main(made)
        .split('\n')
        .find((line) => line.includes(`- ${name} #`)) ?? '',
      why,
    )
  })
}

test('starter: what several names begin with is a service, and the verb comes after it', () => {
  const names = ['GmailReadEmail', 'GmailSendEmail', 'markReadA', 'markReadB']
  assert.deepEqual(rulesByAction(starter(names.map((name) => ({ name })))), {
    GmailReadEmail: 'reading',
    GmailSendEmail: 'destructive',
    markReadA: 'other',
    markReadB: 'other',
  })
})

const DOMAINS: { actions: string[]; domains: Record<string, string[]> }[] = [
  { actions: ['payment.transfer', 'payment.a.b', 'x'], domains: { payment: ['payment.**'] } },
  { actions: ['git_push', 'git_pull', 'get_a', 'get_b'], domains: { git: ['git_*'] } },
  { actions: ['GmailRead', 'GmailSend', 'Other'], domains: { gmail: ['Gmail*'] } },
  { actions: ['mcp__github__a', 'mcp__slack__b'], domains: { github: ['mcp__github__*'], slack: ['mcp__slack__*'] } },
  // Patterns that would take in what is not theirs give way to names.
  { actions: ['BankPay', 'BankGet', 'Bankrupt'], domains: { bank: ['BankPay', 'BankGet'] } },
  { actions: ['a/x.y', 'a/z'], domains: { a: ['a/x.y', 'a/z'] } },
  { actions: ['constructor.a', 'prototype.b'], domains: {} },
]
for (const { actions, domains } of DOMAINS) {
  test(`starter: domains of ${actions.join(', ')}`, () => {
    assert.deepEqual(Object.fromEntries(guessDomains(actions)), domains)
  })
}

/** A schema, and the context that is written for it. */
const SCHEMAS: { name: string; schema: JsonObject; context?: JsonObject; dropped?: RegExp }[] = [
  { name: 'none', schema: {}, context: {} },
  {
    name: 'of an older draft',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { a: { type: 'string' } },
      properties: { x: { $ref: '#/definitions/a' } },
    },
    context: { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' } } },
  },
  {
    name: 'with unknown keywords and formats',
    schema: { type: 'object', properties: { x: { type: 'integer', format: 'uint64', nullable: true } }, 'x-a': 1 },
    context: { type: 'object', properties: { x: { type: 'integer' } } },
    dropped: /properties\.x\.format, properties\.x\.nullable, x-a/,
  },
  {
    name: 'with a pattern that is no RE2',
    schema: { properties: { x: { pattern: '(?=a)' } } },
    context: { properties: { x: {} } },
    dropped: /properties\.x\.pattern/,
  },
  {
    name: 'that refers to itself',
    schema: { $defs: { a: { properties: { b: { $ref: '#/$defs/a' } } } }, properties: { x: { $ref: '#/$defs/a' } } },
    context: { $defs: {}, properties: { x: {} } },
    dropped: /\$defs\.a/,
  },
  {
    name: 'whose negation would say more with less',
    schema: { not: { format: 'odd' }, properties: { x: { not: { type: 'string' } } } },
    context: { properties: { x: { not: { type: 'string' } } } },
    dropped: /not\./,
  },
  {
    name: 'of which if falls away, with then',
    // A literal with the member `then` looks like a promise.
    schema: JSON.parse('{"if": {"format": "odd"}, "then": {"required": ["x"]}, "properties": {"then": {}, "if": {}}}'),
    context: JSON.parse('{"properties": {"then": {}, "if": {}}}'),
    dropped: /if, then\./,
  },
  {
    name: 'that is closed, and loses a name',
    schema: { properties: { constructor: {}, x: {} }, additionalProperties: false },
    context: { properties: { x: {} } },
    dropped: /properties\.constructor, additionalProperties/,
  },
  {
    name: 'with texts that hide',
    schema: { properties: { x: { enum: ['a\u202eb'] }, 'y\u200b': {}, z: { description: 'a\u0007\nb' } } },
    context: { properties: { x: {}, z: { description: 'a\\u{7} b' } } },
    dropped: /properties\.x\.enum/,
  },
  {
    name: 'with texts that mean something in YAML',
    schema: {
      properties: { '<<': {}, '? a': {}, '1': {}, '~': {} },
      enum: [{ a: '<<' }, '- b', 'k: v', '&a', 'null', '01'],
    },
    context: {
      properties: { '<<': {}, '? a': {}, '1': {}, '~': {} },
      enum: [{ a: '<<' }, '- b', 'k: v', '&a', 'null', '01'],
    },
  },
  {
    name: 'of a list of pairs with faults in it',
    schema: {
      type: 'object',
      required: ['x', 1],
      properties: { x: { type: 'array', prefixItems: [{}, {}], minContains: 2 } },
    },
    context: { type: 'object', properties: { x: { type: 'array', prefixItems: [{}, {}] } } },
    dropped: /required, properties\.x\.minContains/,
  },
  {
    name: 'that grows without measure when its references are followed',
    schema: {
      type: 'object',
      required: ['x'],
      properties: { x: { type: 'object', allOf: Array.from({ length: 40 }, () => ({ $ref: '#/$defs/wide' })) } },
      $defs: { wide: { allOf: Array.from({ length: 40 }, (_, i) => ({ maxProperties: i })) } },
    },
    context: { type: 'object', properties: { x: { type: 'object' } }, required: ['x'] },
    dropped: /all but the names and types/,
  },
  { name: 'of something else than an object', schema: { type: 'string' }, context: {}, dropped: /type\./ },
]
for (const { name, schema, context, dropped } of SCHEMAS) {
  test(`starter: a schema ${name}`, async () => {
    const made = starter([{ name: 'tool', schema }])
    const { set } = await assertFolderHolds('acme', made.files)
    assert.deepEqual(plain(set.actions.get('tool')?.context), context)
    if (dropped === undefined) assert.doesNotMatch(main(made), /Left out/)
    else assert.match(main(made), new RegExp(`# Left out of the tool's own schema: ${dropped.source}`))
  })
}

/** As JSON has it: the loader's objects have no prototype. */
function plain(value: Json | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

const NAMES: { names: string[]; actions?: string[]; fault?: RegExp }[] = [
  { names: ['a b', 'ünder'], actions: ['a_b', '_nder'] },
  { names: ['../etc/passwd', '__proto__', 'constructor'], actions: ['etc/passwd', '___proto__', '_constructor'] },
  { names: ['x'.repeat(200)], actions: ['x'.repeat(128)] },
  { names: ['true', 'null', '12', '1e3', 'a: b # c'], actions: ['true', 'null', '12', '1e3', 'a:_b_c'] },
  { names: ['a b', 'a_b'], fault: /"a b" and "a_b" would both be the action a_b/ },
  { names: ['a', 'a'], fault: /"a" is listed twice/ },
  { names: ['...'], fault: /"\.\.\." has no name/ },
]
for (const { names, actions, fault } of NAMES) {
  test(`starter: tools called ${names.join(', ').slice(0, 60)}`, async () => {
    const made = starterFor(
      'acme',
      names.map((name) => ({ name })),
    )
    if ('fault' in made) return assert.match(made.fault, fault ?? /none/)
    const { set } = await assertFolderHolds('acme', made.files)
    assert.deepEqual([...set.actions.keys()].sort(), [...(actions ?? [])].sort())
    for (const { name } of made.renamed) assert.ok(main(made).includes(`The tool is called "${name}"`))
  })
}

const LISTS: { list: Json; names?: string[]; fault?: RegExp }[] = [
  { list: ['a', { name: 'b' }, { type: 'function', function: { name: 'c' } }], names: ['a', 'b', 'c'] },
  { list: { tools: [{ name: 'a' }] }, names: ['a'] },
  { list: { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'a' }] } }, names: ['a'] },
  { list: { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no\u001b[31m' } }, fault: /is an error: no\\u\{1b\}/ },
  { list: { result: {} }, fault: /no array called tools/ },
  { list: 'a', fault: /is a JSON array/ },
  { list: [''], fault: /Tool 1 of the list has no name/ },
  { list: ['a', 3], fault: /Tool 2 of the list is neither/ },
  { list: [{ name: 'a', description: 3 }], fault: /description that is not a text/ },
  { list: [{ name: 'a', inputSchema: [] }], fault: /schema that is not an object/ },
  { list: [{ name: 'a', annotations: { readOnlyHint: 'yes' } }], fault: /hint that is neither/ },
  { list: [{ name: 'a'.repeat(501) }], fault: /more than 500/ },
  { list: Array.from({ length: 1001 }, (_, i) => `t${i}`), fault: /at most 1000/ },
]
for (const { list, names, fault } of LISTS) {
  test(`tool lists: ${JSON.stringify(list).slice(0, 70)}`, () => {
    const read = readTools(list)
    if ('fault' in read) assert.match(read.fault, fault ?? /none/)
    else
      assert.deepEqual(
        read.tools.map(({ name }) => name),
        names,
      )
  })
}

const PLAIN_LISTS: { text: string; names?: string[]; fault?: RegExp }[] = [
  { text: '# tools\nget_balance\r\n\n  send_money \n', names: ['get_balance', 'send_money'] },
  { text: 'get_balance', names: ['get_balance'] },
  { text: 'get_balance\n- send_money\n', fault: /Line 2 is "- send_money".* one name a line/ },
  { text: '# nothing\n\n', fault: /no names/ },
]
for (const { text, names, fault } of PLAIN_LISTS) {
  test(`tool lists: ${JSON.stringify(text)}`, () => {
    const read = readToolLines(text)
    if ('fault' in read) assert.match(read.fault, fault ?? /none/)
    else
      assert.deepEqual(
        read.tools.map(({ name }) => name),
        names,
      )
  })
}

test('tool lists: a page of a longer list says so', () => {
  const read = readTools({ tools: ['a'], nextCursor: 'x' })
  assert.match('notes' in read ? read.notes.join() : '', /nextCursor/)
})

test('starter: tools that make too large a file are a fault, not a folder that is not loaded', () => {
  const values = Array.from({ length: 900 }, (_, i) => `${i}`.padStart(100, '0'))
  const tools = Array.from({ length: 20 }, (_, i) => ({
    name: `t${i}`,
    schema: { properties: { x: { enum: values } } },
  }))
  const made = starterFor('acme', tools)
  assert.match('fault' in made ? made.fault : '', /main\.yaml of more than 1048576 bytes.*fewer tools/)
})

// Hostile texts of tools: they mean something in YAML, in JSON Schema, to a terminal or in JavaScript.
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed()),
  fc.constantFrom(
    '<<',
    '? a',
    '- b',
    'k: v',
    '&a',
    '*a',
    '!!js',
    '%YAML',
    '---',
    '...',
    '#',
    "'",
    '"',
    '\\',
    '|',
    '>',
    '~',
  ),
  fc.constantFrom(
    'constructor',
    'prototype',
    'toString',
    'no',
    'null',
    '0x1',
    '1_000',
    '.inf',
    '2001-01-01',
    ' a ',
    'a\r\nb',
  ),
  fc.constantFrom('\u0085', '\u2028', '\u202e', '\ufeff', '\u0000', 'x'.repeat(1100), '{{x}}', '`x`', '\ud7ff\ue000'),
)
const WORDS = [
  'properties',
  'type',
  'items',
  '$defs',
  'not',
  'if',
  'then',
  'oneOf',
  'anyOf',
  'required',
  'enum',
  'const',
].concat(
  ['pattern', 'format', 'minimum', '$ref', 'additionalProperties', 'unevaluatedProperties', 'prefixItems', 'default'],
  ['minLength', 'description', 'patternProperties', 'uniqueItems', 'maxItems', 'minItems', 'contains', 'definitions'],
)
const { schema: schemas } = fc.letrec<{ schema: Json; value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    texts,
    fc.constantFrom(
      'object',
      'string',
      'array',
      'integer',
      'date',
      'email',
      '#/$defs/a',
      '#/definitions/a',
      '^a+$',
      '(?=a)',
    ),
    fc.integer({ min: -3, max: 1100 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
    fc.constantFrom<Json>(true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('schema'),
  ),
  schema: fc.dictionary(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
      { weight: 1, arbitrary: fc.constantFrom('a', 'b') },
      // The parser refuses that key before.
      texts.filter((text) => text !== '__proto__'),
    ),
    tie('value'),
    { maxKeys: 4 },
  ),
}))
const tools = fc.array(
  fc.record(
    { name: texts.filter((text) => text !== ''), description: texts, inputSchema: schemas },
    { requiredKeys: ['name'] },
  ),
  { maxLength: 6 },
)
const REFUSED = /name of more than 500|no name that an action can have|would both be the action|is listed twice/

test('starter: whatever tools say, the folder has no fault, its tests hold, and every character is seen', async () => {
  await fc.assert(
    fc.asyncProperty(tools, async (list) => {
      const read = readTools(parseJson(JSON.stringify(list), { maxDepth: 64 }))
      if ('fault' in read) return assert.match(read.fault, REFUSED)
      const made = starterFor('acme', read.tools)
      if ('fault' in made) return assert.match(made.fault, REFUSED)
      const { set } = await assertFolderHolds('acme', made.files)
      // The three examples stand where there are no tools.
      assert.equal(set.actions.size, list.length || 3)
      for (const { text } of made.files) assert.ok(text.split('\n').every(isVisible), text)
    }),
    { numRuns: runs(100) },
  )
})
