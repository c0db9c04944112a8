import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, load } from './sources.ts'

type Spot = [file: string, code: string, line: number, column: number]
const RULE = 'rules:\n  - {id: r, actions: [a.b], effect: allow, reason: R.}\n'

const FOLDERS: [name: string, files: Record<string, string | Uint8Array>, wanted: Spot[]][] = [
  [
    'no policy file',
    { 'a.txt': 'x' },
    [
      ['acme', 'GATE1018', 1, 1],
      ['acme/a.txt', 'GATE2001', 1, 1],
    ],
  ],
  ['a hidden file is no policy', { 'a.yaml': HEADER, '.b.yaml': 'x' }, [['acme/.b.yaml', 'GATE2001', 1, 1]]],
  [
    'an ending in capitals',
    { 'a.yaml': HEADER, 'deny.YAML': HEADER, 'a.test.Yml': '', 'deny.YAML~': '' },
    [
      ['acme/a.test.Yml', 'GATE1023', 1, 1],
      ['acme/deny.YAML', 'GATE1023', 1, 1],
      ['acme/deny.YAML~', 'GATE2001', 1, 1],
    ],
  ],
  ['no policy but one in capitals', { 'A.JSON': '' }, [['acme/A.JSON', 'GATE1023', 1, 1]]],
  ['a file too large', { 'a.yaml': `${HEADER}#${'x'.repeat(1024 * 1024)}` }, [['acme/a.yaml', 'GATE1001', 1, 1]]],
  [
    'a setting in two files',
    { 'a.yaml': `${HEADER}explain: full\n`, 'b.yaml': `${HEADER}\nexplain: full\n` },
    [
      ['acme/a.yaml', 'GATE1211', 3, 1],
      ['acme/b.yaml', 'GATE1211', 4, 1],
    ],
  ],
  [
    'a rule id in two files',
    { 'a.yaml': HEADER + RULE, 'b.yaml': HEADER + RULE.replace('allow', 'deny') },
    [
      ['acme/a.yaml', 'GATE1201', 4, 10],
      ['acme/b.yaml', 'GATE1201', 4, 10],
    ],
  ],
  [
    'names in two files',
    {
      'a.yaml': `${HEADER}domains: {d: [a.b]}\nfacts: {context.a: {type: string}}\nactions: {a.b: {}}\n`,
      'b.yaml': `${HEADER}domains: {d: [a.c]}\nfacts: {context.a: {type: string}}\nactions: {a.b: {}}\n`,
    },
    ['a', 'b'].flatMap((file): Spot[] => [
      [`acme/${file}.yaml`, 'GATE1202', 3, 11],
      [`acme/${file}.yaml`, 'GATE1202', 4, 9],
      [`acme/${file}.yaml`, 'GATE1202', 5, 11],
    ]),
  ],
  [
    'a cycle over two files',
    {
      'a.yaml': `${HEADER}conditions: {a: {condition: b}}\n`,
      'b.yaml': `${HEADER}conditions: {b: {condition: a}}\n`,
    },
    [
      ['acme/a.yaml', 'GATE1210', 3, 14],
      ['acme/b.yaml', 'GATE1210', 3, 14],
    ],
  ],
  [
    'a broken file does not make the names of others unknown',
    {
      'a.yaml': `${HEADER}lists: [\n`,
      'b.yaml': `${HEADER}rules:\n  - {id: r, actions: [a.b], effect: alow, reason: R., when: {condition: c}}\n`,
    },
    [
      ['acme/a.yaml', 'GATE1003', 3, 8],
      ['acme/b.yaml', 'GATE1104', 4, 37],
    ],
  ],
  [
    'a test file',
    {
      'a.yaml': HEADER + RULE,
      'a.test.yaml': `apiVersion: gate-sidecar/v1
tenant: acme
now: 2026-01-01
contexts: {small: {amount: 1}}
tests:
  - name: one
    matrix: {actions: [a.b], contexts: [smal]}
    expect: {decision: allow, rule: q}
  - name: one
    now: 2026-01-01T00:00:00Z
    matrix: {actions: ["a b"], contexts: [small]}
    expects: {}
  - name: two
    skip: later
    matrix: {actions: [a.b], contexts: [small]}
    expect:
      small: {decision: allowed}
      large: {decision: deny}
  - name: three
    matrix: {actions: [a.b], contexts: [small]}
    expect: [{context: small, decision: allow, rules: [r]}, {rul: r}]
`,
    },
    [
      ['acme/a.test.yaml', 'GATE1503', 3, 6],
      ['acme/a.test.yaml', 'GATE1505', 6, 11],
      ['acme/a.test.yaml', 'GATE1504', 7, 41],
      ['acme/a.test.yaml', 'GATE1504', 8, 37],
      ['acme/a.test.yaml', 'GATE1505', 9, 11],
      ['acme/a.test.yaml', 'GATE1503', 11, 24],
      ['acme/a.test.yaml', 'GATE1501', 12, 5],
      ['acme/a.test.yaml', 'GATE1503', 12, 14],
      ['acme/a.test.yaml', 'GATE1503', 17, 25],
      ['acme/a.test.yaml', 'GATE1504', 18, 7],
      ['acme/a.test.yaml', 'GATE1501', 21, 62],
      ['acme/a.test.yaml', 'GATE1502', 21, 62],
    ],
  ],
]

for (const [name, files, wanted] of FOLDERS) {
  test(`folder: ${name}`, () => {
    const { diagnostics } = load(files)
    assert.deepEqual(
      diagnostics.map(({ file, code, line, column }) => [file, code, line, column]),
      wanted,
    )
  })
}
