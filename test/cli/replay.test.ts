import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type StoredEntry, sectionValue } from '../../src/audit/entry.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { digestOf, formatDigest } from '../../src/base/digest.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { Limited } from '../../src/replay/shown.ts'
import { fileTest, temporaryFolder, writeFiles } from '../helpers.ts'
import { begin, live, policies } from '../replay/day.ts'
import { until } from '../until.ts'
import { run } from './program.ts'

/** Length of the day, which ends now. */
const DAY_MS = 92 * 60_000
const dir = temporaryFolder()
writeFiles(dir, {
  'policies/web/main.yaml': `apiVersion: gate-sidecar/v1
tenant: web
facts: {context.method: {type: string}}
history: {count: {posts: {actions: ["http.**"], within: 1h, by: agent}}}
rules:
  - {id: gets, actions: ["http.**"], effect: allow, reason: Reads are fine., when: {fact: context.method, operator: equal, value: GET}}
  - {id: many, actions: ["http.**"], effect: deny, reason: Three an hour., when: {fact: history.count.posts, operator: greaterThan, value: 3}}
`,
})

const event = (i: number, method: string, result: boolean) =>
  JSON.stringify({
    decision_id: `d${i}`,
    path: 'http/allow',
    input: { method },
    result,
    timestamp: `2026-01-05T12:0${i}:00Z`,
  })
const EVENTS = [
  event(0, 'GET', true),
  event(1, 'POST', true),
  event(2, 'GET', false),
  event(3, 'GET', true),
  event(4, 'GET', true),
]

/** The section of an entry that tells of a replay. */
function dataOf(entry: StoredEntry | undefined): JsonObject {
  return (entry && sectionValue(entry, 'data')) ?? assert.fail('there is no such entry')
}

async function replayed(args: readonly string[], input = ''): Promise<Limited> {
  const { code, stdout, stderr } = await run(['replay', ...args, '--policies', join(dir, 'policies'), '--json'], {
    input,
  })
  assert.equal(code, 0, stderr)
  const [one] = JSON.parse(stdout).replays
  return one
}

const changesOf = ({ report }: Limited) =>
  Object.fromEntries(report.matrix.map(({ from, to, count }) => [`${from}->${to}`, count]))

const FORMS: [name: string, text: string, unread: number][] = [
  ['lines', `${EVENTS.join('\n')}\n`, 0],
  ['one array', `[${EVENTS.join(',')}]`, 0],
  ['lines between others', `${EVENTS[0]}\nnot json\n\n{"level":"info"}\n${EVENTS.slice(1).join('\n')}`, 2],
]
for (const [name, text, unread] of FORMS) {
  test(`a log of another program is replayed from a file: ${name}`, async () => {
    const path = join(dir, 'log.json')
    writeFileSync(path, text)
    const one = await replayed([path])
    // The fourth that ran within the hour is denied; one of those that ran would not have.
    assert.deepEqual(changesOf(one), { 'allow->allow': 2, 'allow->deny': 2, 'deny->allow': 1 })
    assert.deepEqual([one.trail, one.from, one.unread?.count], [path, null, unread])
    if (unread > 0) assert.match(one.unread?.first ?? '', /log\.json:2: /)
    const later = await replayed([path, '--from', '2026-01-05T12:04:00Z', '--history', 'draft'])
    assert.deepEqual([changesOf(later), later.report.decided], [{ 'allow->deny': 1 }, 1])
  })
}

test('it comes from standard input as well', async () => {
  const one = await replayed(['-'], EVENTS.join('\n'))
  assert.deepEqual([one.trail, one.report.decided], ['-', 5])
})

const REFUSED: [name: string, args: string[], code: number, stderr: RegExp][] = [
  ['a file that is not there', ['/nonexistent/log'], 3, /There is no file or folder/],
  ['a folder of something else', [dir], 3, /has neither manifest\.json of an export nor calls\.jsonl/],
  ['a file without requests', [join(dir, 'policies/web/main.yaml')], 3, /has no request: .*main\.yaml:1: /],
  ['a sample', [join(dir, 'log.json'), '--sample', '3'], 2, /--sample is about the trail/],
  ['a tenant without policies', [join(dir, 'log.json'), '--tenant', 'nobody'], 3, /no policy folder of nobody/],
]
for (const [name, args, code, stderr] of REFUSED) {
  test(`an input is refused: ${name}`, async () => {
    const ended = await run(['replay', ...args, '--policies', join(dir, 'policies')])
    assert.equal(ended.code, code)
    assert.match(ended.stderr, stderr)
  })
}

test('a corpus is decided session by session, with what the session did before', async () => {
  const corpus = join(dir, 'corpus')
  const call = (session: string, order: number, action: string) =>
    JSON.stringify({ id: `${session}#${order}`, session, order, action, args: {}, context: { tainted: order > 0 } })
  const head = (session: string, source: string) => JSON.stringify({ session, source, suite: 's', prompt: 'P' })
  writeFiles(dir, {
    'corpus/sessions.jsonl': [head('a', 'lab'), head('b', 'lab'), head('c', 'other')].join('\n'),
    'corpus/calls.jsonl': [
      call('b', 1, 'send'),
      call('a', 0, 'read'),
      call('b', 0, 'read'),
      call('c', 0, 'read'),
      call('a', 1, 'send'),
    ].join('\n'),
    'policies/lab/main.yaml': `apiVersion: gate-sidecar/v1
tenant: lab
facts: {context.tainted: {type: boolean}, context.priorActions: {type: list}}
rules:
  - {id: reads, actions: [read], effect: allow, reason: R.}
  - {id: sends, actions: [send], effect: allow, reason: R., when: {fact: context.priorActions, operator: contains, value: read}}
  - {id: tainted, actions: [send], effect: require_approval, reason: R., when: {fact: context.tainted, operator: equal, value: true}}
`,
  })
  const one = await replayed([corpus, '--tenant', 'lab'])
  assert.deepEqual(changesOf(one), { 'none->allow': 2, 'none->require_approval': 2 })
  assert.deepEqual(
    one.report.changes.map(({ id }) => id),
    ['a#0', 'a#1', 'b#0', 'b#1'],
  )
})

fileTest('an export is replayed as the trail is, and the unchanged set changes nothing in it', async () => {
  const day = await begin({ after }, () => Date.now() - DAY_MS)
  await live(day)
  await day.gate.server.close()
  const [data, out] = [join(day.gate.dir, 'data'), join(dir, 'export')]
  const made = await run(['audit', 'export', '--tenant', 'acme', '--out', out, '--data', data])
  assert.equal(made.code, 0, made.stderr)
  writeFiles(dir, { 'policies/acme/main.yaml': policies['acme/main.yaml'] })
  const one = await replayed([out, '--tenant', 'acme'])
  const { decided, kinds, stopped, scores } = one.report
  assert.deepEqual([decided, kinds, stopped, scores.higher, one.unread?.count], [21, [], 1, 0, 0])
})

fileTest(
  'a sealed replay is told in the trail: the draft, the set in force, the chain, the result, and the report',
  async (t) => {
    const day = await begin(t, () => Date.now() - DAY_MS)
    await live(day)
    const { store } = day.gate.server
    await until('the set in force is recorded', () => store.state().policies.has('acme'))
    const draft = join(day.gate.dir, 'draft')
    writeFiles(draft, { 'acme/main.yaml': policies['acme/main.yaml'].replace('value: 100}', 'value: 15}') })
    const args = ['replay', '--data', join(day.gate.dir, 'data'), '--policies', draft, '--tenant', 'acme']
    const before = (await store.lengths(['acme/live'])).get('acme/live') ?? 0
    // The approvals of the day may expire meanwhile.
    const added = async () =>
      (await store.entriesFrom('acme/live', before, 100))
        .map(({ header }) => header)
        .filter(({ type }) => type !== 'approval.expired')
    const { code, stdout } = await run([...args, '--seal', '--fail-on', 'changed>0', '--json'])
    assert.equal(code, 1)
    const [{ seal, ...replay }] = JSON.parse(stdout).replays
    await store.refresh()
    const entry = await store.entry(seal.entryId)
    assert.deepEqual([entry?.header.type, await added()], ['policy.replayed', [entry?.header]])
    const { report, limits, ...about } = replay
    const { tenantId, decided, changed, matrix, report: digest, ...data } = dataOf(entry)
    assert.deepEqual([tenantId, decided, matrix, digest], ['acme', report.decided, report.matrix, seal.report])
    assert.ok(Number(changed) > 0)
    assert.deepEqual(data, {
      ...about,
      ...{ limits, stopped: report.stopped, unknown: report.unknown, assumed: report.assumed },
    })
    assert.equal(about.inForce, store.state().policies.get('acme')?.digest)
    assert.notEqual(about.policyDigest, about.inForce)
    const { size } = about.heads[0]
    assert.ok(size >= before && size <= Number(entry?.header.seq))
    const [root] = await store.treeHashes('acme/live', [{ begin: 0, end: size }])
    assert.deepEqual(about.heads, [{ chain: 'acme/live', size, root: formatDigest(root ?? Buffer.alloc(0)) }])
    // Anyone can hold a report to its entry.
    assert.equal(digestOf(canonicalJson(replay)), digest)
    assert.match((await run([...args, '--seal'])).stdout, /\nsealed {8}entry aud_\w+, report sha256:[0-9a-f]{64}\n/)
    assert.deepEqual(
      (await added()).map(({ type }) => type),
      ['policy.replayed', 'policy.replayed'],
    )
    const input = await run(['replay', '-', '--seal', '--policies', draft])
    assert.deepEqual([input.code, /--seal is about the trail/.test(input.stderr)], [2, true])
  },
)
