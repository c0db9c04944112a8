import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FULL } from '../tier.ts'
import { faultsOf } from './faults.ts'

interface Row {
  name: string
  page: string
  /** Line and problem of each fault. */
  faults?: readonly [line: number, problem: RegExp][]
}

const block = (info: string, ...lines: string[]): string => ['```'.concat(info), ...lines, '```', ''].join('\n')
const OUTPUT = '<!-- output -->\n\n'
const ENTRY = `{"id": "aud_01m7yzzehe6pjva8zh9yqf6aqb", "hash": "sha256:${'0'.repeat(64)}", "at": "2026-01-01T00:00:00.000Z"}`
const OTHER = `{"id": "aud_01m8c00000000000000000000z", "hash": "sha256:${'f'.repeat(64)}", "at": "2027-12-31T23:59:59.999Z"}`

/** Pages that are run: each costs a copy of the tree. */
const RUN: readonly Row[] = [
  {
    name: 'blocks after the one that fails',
    page: block('sh', 'false') + block('sh', 'true') + block('console', '$ echo a', 'a'),
    faults: [
      [1, /failed/],
      [4, /not reached/],
      [8, /not reached/],
    ],
  },
  { name: 'another output', page: block('console', '$ echo a', 'b'), faults: [[2, /printed:\na/]] },
  { name: 'a quiet failure', page: block('console', '$ false', '$ true'), faults: [[2, /ended with 1/]] },
  {
    name: 'JSON output, a member more, an item less, none',
    page:
      block('sh', `echo '{"a": 1, "b": 2}'`) +
      OUTPUT +
      block('json', '{"a": 1}') +
      block('sh', 'echo "[1]"') +
      OUTPUT +
      block('json', '[1, 2]') +
      block('sh', 'echo "{}"') +
      OUTPUT +
      block('json', '{"a": "…"}'),
    faults: [
      [6, /\$\.b is not on the page/],
      [14, /has 1 items, not 2/],
      [22, /\$\.a is undefined/],
    ],
  },
]

/** More of them, in the full tier. */
const RUN_TOO: readonly Row[] = [
  { name: 'commands', page: block('sh', 'test -d policies && test -e bin/gate-sidecar.js') },
  { name: 'a command that fails', page: block('sh', 'echo so', 'false'), faults: [[1, /failed:\nso/]] },
  { name: 'a part of a pipe that fails', page: block('sh', 'false | cat'), faults: [[1, /failed/]] },
  { name: 'a variable that nothing sets', page: block('sh', 'echo $NOTHING'), faults: [[1, /unbound/]] },
  {
    name: 'one shell for all blocks, aliases too',
    page: block('sh', 'alias say=echo', 'A=1') + block('console', '$ say "$A" $PWD', '1 …/gate-sidecar'),
  },
  { name: 'stderr is printed as well', page: block('console', '$ echo a | tee /dev/stderr', 'a', 'a') },
  { name: 'more output', page: block('console', '$ echo a; echo b', 'a'), faults: [[2, /printed:\na\nb/]] },
  { name: 'no output', page: block('console', '$ true', 'a'), faults: [[2, /printed/]] },
  { name: 'output that is not shown', page: block('console', '$ echo a'), faults: [[2, /printed:\na/]] },
  { name: 'lines that do not matter', page: block('console', '$ seq 9', '1', '…', '9') },
  { name: 'lines over two lines', page: block('console', '$ echo \\', '> a', 'a') },
  { name: 'a failure that is shown', page: block('console', '$ (exit 3)', '$ echo $?', '3', '$ true') },
  { name: 'the code of a pipe, as a shell of a reader has it', page: block('console', '$ false | cat') },
  { name: 'another code', page: block('console', '$ (exit 3)', '$ echo $?', '1'), faults: [[3, /printed:\n3/]] },
  { name: 'what varies', page: block('console', `$ echo '${ENTRY}'`, OTHER) },
  { name: 'JSON output', page: block('sh', `echo '${ENTRY}'`) + OUTPUT + block('json', OTHER) },
  {
    name: 'JSON output, shortened',
    page: `${block('console', `$ echo '{"a": {"b": 1, "c": 2}, "d": [1, 2], "e": "long text"}'`, '…')}${OUTPUT}${block('json', '{"a": {"b": 1, "…": "…"},', '"d": [1, "…"], "e": "long …"}')}`,
  },
  {
    name: 'JSON output, another value',
    page: block('sh', `echo '{"a": {"b": 1}}'`) + OUTPUT + block('json', '{"a": {"b": 2}}'),
    faults: [[6, /\$\.a\.b is 1, not 2/]],
  },
  {
    name: 'output that is no JSON',
    page: block('sh', 'echo a') + OUTPUT + block('json', '1'),
    faults: [[6, /printed is no strict JSON/]],
  },
  {
    name: 'a block that is saved',
    page: `Save it as \`a/b.json\`:\n\n<!-- file: policies/a/b.json -->\n\n${block('json', '{}')}${block('console', '$ cat policies/a/b.json', '{}')}`,
  },
  { name: 'lines that are not run', page: block('sh', 'npm ci && npm test  # all', 'docker run x', 'npm run bench') },
  {
    name: 'tests that a page runs are run',
    page: block(
      'console',
      '$ node --import tsx --test --test-reporter=tap test/base/id.test.ts | grep "^# fail"',
      '# fail 0',
    ),
  },
  { name: 'what is not run hides nothing', page: block('sh', 'docker run x', 'false'), faults: [[1, /failed/]] },
  {
    name: 'the service, on another port than the page says, ends with the page',
    page:
      block('sh', 'npm ci && npm start  # serves') +
      block('console', '$ curl -s http://127.0.0.1:4283/healthz | head -c 34', '{"success":true,"data":{"status":"…'),
  },
  {
    name: 'what the service says when it listens',
    page: block('console', '$ bin/gate-sidecar.js serve', '…', '… info  listening  url=http://127.0.0.1:4283', '…'),
  },
  {
    name: 'a service that does not start',
    page: block('sh', 'bin/gate-sidecar.js serve --policies none') + block('sh', 'true'),
    faults: [
      [1, /no policies folder/],
      [4, /not reached/],
    ],
  },
]

const RULE = '  - {id: a, actions: ["a.*"], effect: allow, reason: Fine.}'

/** Pages whose commands, if any, are not run. */
const READ: readonly Row[] = [
  { name: 'no blocks', page: '# Title\n\nText with `code`.\n' },
  { name: 'no language', page: block('', 'a'), faults: [[1, /no rule covers/]] },
  { name: 'another language', page: `\n${block('js', 'a')}`, faults: [[2, /no rule covers a block of language "js"/]] },
  {
    name: 'a program that nothing runs',
    page: `\n${block('ts', 'a')}`,
    faults: [[2, /integrations\/ does not have this block/]],
  },
  { name: 'no end', page: '```sh\ntrue\n', faults: [[1, /no end/]] },
  { name: 'tildes and indentation', page: '- item\n\n  ~~~json\n  {\n  ~~~\n', faults: [[3, /JSON/]] },
  { name: 'a diagram', page: block('text', ' a ──► b', '') },
  { name: 'a command in a diagram', page: block('text', 'npm start'), faults: [[1, /"npm start" is a command/]] },
  { name: 'a transcript as text', page: block('text', '$ ls'), faults: [[1, /is a command/]] },
  { name: 'no command in a transcript', page: block('console', 'a'), faults: [[1, /begins with/]] },
  { name: 'an empty transcript', page: block('console'), faults: [[1, /begins with/]] },
  { name: 'JSON', page: block('json', '{"a": [1]}') },
  { name: 'JSON that is none', page: block('json', '{"a": 1,}'), faults: [[1, /JSON/]] },
  { name: 'JSON with a key twice', page: block('json', '{"a": 1, "a": 1}'), faults: [[1, /no strict JSON/]] },
  {
    name: 'commands after a service',
    page:
      block('sh', 'true', 'npm start # serves', 'true') +
      block('console', '$ gate-sidecar serve --data a', 'listening', '$ true'),
    faults: [
      [3, /nothing after the service is reached/],
      [7, /nothing after the service is reached/],
    ],
  },
  {
    name: 'a file whose name only a comment has',
    page: `Save \`b.json\` first.\n\nSave it:\n\n<!-- file: a/b.json -->\n\n${block('json', '{}')}Now \`b.json\`:\n\n<!-- file: b.json -->\n\n${block('json', '{}')}`,
    faults: [[7, /does not name a\/b\.json/]],
  },
  { name: 'output of nothing', page: OUTPUT + block('json', '1'), faults: [[3, /right after commands/]] },
  { name: 'a policy', page: block('yaml', 'apiVersion: gate-sidecar/v1', 'tenant: shop', 'rules:', RULE) },
  { name: 'a part of a policy', page: block('yaml', 'rules:', RULE) },
  { name: 'a part that is wrong', page: block('yaml', 'ruls:', RULE, 'rules: []'), faults: [[1, /GATE1101/]] },
  { name: 'a part that is meant to be wrong', page: block('yaml GATE1101', 'ruls:', RULE) },
  {
    name: 'wrong in another way',
    page: block('yaml GATE1102', 'ruls:', RULE),
    faults: [[1, /GATE1101, not GATE1102/]],
  },
  { name: 'wrong, but it is right', page: block('yaml GATE1101', 'rules:', RULE), faults: [[1, /no fault/]] },
  { name: 'no policy', page: block('yaml', 'services: {}'), faults: [[1, /no part of a policy/]] },
  {
    name: 'a whole policy with a warning',
    page: block('yaml', 'apiVersion: gate-sidecar/v1', 'tenant: a', 'lists: {a: {values: [1]}}'),
    faults: [[1, /gives GATE2002/]],
  },
  { name: 'a warning that is meant', page: block('yaml GATE2002', 'lists: {a: {values: [1]}}') },
  {
    name: 'a test file of the policy before it',
    page:
      block('yaml', 'apiVersion: gate-sidecar/v1', 'tenant: shop', 'rules:', RULE) +
      block('yaml', ...testFile('a')) +
      block('yaml', ...testFile('b')),
    faults: [[13, /GATE1504/]],
  },
]

function testFile(rule: string): string[] {
  return [
    'apiVersion: gate-sidecar/v1',
    'tenant: shop',
    'tests:',
    `  - {name: one, matrix: {actions: [a.b]}, expect: {decision: allow, rule: ${rule}}}`,
  ]
}

describe('the rules for blocks', { concurrency: 2 }, () => {
  for (const row of [...READ, ...RUN, ...(FULL ? RUN_TOO : [])]) {
    const { name, page, faults = [] } = row
    test(name, async () => {
      const found = await faultsOf(page, { runsCommands: !READ.includes(row) })
      assert.deepEqual(
        found.map(({ line }) => line),
        faults.map(([line]) => line),
        JSON.stringify(found),
      )
      for (const [i, [, problem]] of faults.entries()) assert.match(found[i]?.problem ?? '', problem)
    })
  }
})
