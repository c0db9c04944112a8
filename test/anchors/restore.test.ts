import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { formatDigest } from '../../src/base/digest.ts'
import { parseAnchor } from '../../src/evidence/anchor.ts'
import { parseNote } from '../../src/evidence/note.ts'
import { run } from '../cli/program.ts'
import type { Cleanup } from '../helpers.ts'
import { openBeside } from '../helpers.ts'
import { until } from '../until.ts'
import { checks, deleted, forked, live, newScene, rolledBack, type Scene, start, withoutTenant } from './scenes.ts'
import { anchored, linesOf, readiness } from './support.ts'

const REASON = 'backup of May put back'

function restore({ dir, anchorFile }: Scene, ...more: string[]) {
  return run([
    'audit',
    'restore',
    '--data',
    join(dir, 'data'),
    '--anchor-file',
    anchorFile,
    '--reason',
    REASON,
    ...more,
  ])
}

/** The newest line of each chain: size and root. */
function newest({ anchorFile }: Scene): Map<string, { size: number; root: string }> {
  return new Map(
    linesOf(anchorFile).flatMap((line) => {
      const checkpoint = parseCheckpoint(parseNote(parseAnchor(line)?.checkpoint ?? '')?.text ?? '')
      return checkpoint === undefined
        ? []
        : [[checkpoint.chain, { size: checkpoint.size, root: formatDigest(checkpoint.root) }]]
    }),
  )
}

/** The data of the entries `audit.restored`. */
async function restoredEntries({ dir }: Scene) {
  const store = await openBeside(dir)
  try {
    const { items } = await store.page({ chain: '_system', order: 'asc', limit: 1000, offset: 0 })
    return items
      .filter(({ header }) => header.type === 'audit.restored')
      .map(({ sections }) => {
        const json = (wanted: string) => JSON.parse(sections.find(({ name }) => name === wanted)?.json ?? 'null')
        return { data: json('data'), actor: json('actor') }
      })
  } finally {
    await store.close()
  }
}

const SCENES: [name: string, scene: (t: Cleanup) => Promise<Scene>, chain: string, status: string][] = [
  ['an old backup', rolledBack, 'acme/live', 'ROLLBACK'],
  ['another history', forked, 'acme/live', 'FORK'],
  ['a tenant’s chain that is gone', withoutTenant, 'other/live', 'ROLLBACK'],
]

for (const [name, scene, chain, status] of SCENES) {
  test(`${name} is taken up: recorded, anchored, and a running service writes again by itself`, async (t) => {
    const left = await scene(t)
    const before = linesOf(left.anchorFile)
    const anchoredBefore = newest(left).get(chain)
    const gate = await start(t, left)
    assert.equal((await readiness(gate)).status, 503)
    const { code, stdout, stderr } = await restore(left)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(
      stdout,
      new RegExp(`^${status}: audit chain ${chain} has \\d+ entries and its anchor ${anchoredBefore?.size}; `, 'm'),
    )
    await until('it writes again', async () => (await readiness(gate)).status === 200)
    await checks(2)(gate)
    await gate.server.close()
    // The anchors written before stay, so their holder sees the break.
    assert.deepEqual(linesOf(left.anchorFile).slice(0, before.length), before)
    const [entry, ...more] = await restoredEntries(left)
    assert.equal(more.length, 0)
    assert.equal(entry?.data.reason, REASON)
    assert.match(entry?.actor.id, /^host:/)
    const recorded = entry?.data.discrepancies.find((one: { chain: string }) => one.chain === chain)
    assert.deepEqual(Object.keys(recorded).sort(), ['anchored', 'chain', 'found', 'status'])
    assert.equal(recorded.status, status)
    assert.deepEqual(recorded.anchored, anchoredBefore)
    const isGone = chain === 'other/live'
    assert.equal(
      isGone ? recorded.found.size === 0 && recorded.found.root === null : /^sha256:/.test(recorded.found.root),
      true,
    )
    const again = await start(t, left)
    assert.equal((await readiness(again)).status, 200)
    await checks(1)(again)
  })
}

test('a data folder that was made anew is taken up too, and its tenants may come back', async (t) => {
  const left = await deleted(t)
  const gate = await start(t, left)
  assert.equal((await readiness(gate)).status, 503)
  assert.equal((await restore(left)).code, 0)
  await until('it writes again', async () => (await readiness(gate)).status === 200)
  assert.deepEqual(newest(left).get('acme/live')?.size, 0)
  await checks(2)(gate)
  await gate.server.close()
  assert.equal((newest(left).get('acme/live')?.size ?? 0) > 2, true)
  const again = await start(t, left)
  assert.equal((await readiness(again)).status, 200)
})

test('without a discrepancy it says so, ends with 1, and writes nothing', async (t) => {
  const scene = newScene()
  await live(t, scene, checks(2))
  const [before, entries] = [readFileSync(scene.anchorFile, 'utf8'), await restoredEntries(scene)]
  const { code, stdout } = await restore(scene)
  assert.deepEqual(
    [code, stdout],
    [1, 'The trail agrees with its anchors, and no checkpoint is missing; nothing was written.\n'],
  )
  assert.equal(readFileSync(scene.anchorFile, 'utf8'), before)
  assert.deepEqual(await restoredEntries(scene), entries)
  const { stdout: json } = await restore(scene, '--json')
  assert.deepEqual(JSON.parse(json), {
    restored: false,
    discrepancies: [],
    unsigned: [],
    unsealed: [],
    left: [],
    refused: [],
  })
})

test('twice is once', async (t) => {
  const left = await rolledBack(t)
  assert.equal((await restore(left)).code, 0)
  const lines = anchored(left.anchorFile)
  assert.equal((await restore(left)).code, 1)
  assert.deepEqual(anchored(left.anchorFile), lines)
})

test('where the anchors cannot be read it could not run, and nothing is recorded', async (t) => {
  const left = await rolledBack(t)
  const { code, stderr } = await run([
    ...['audit', 'restore', '--data', join(left.dir, 'data')],
    ...['--anchor-file', left.dir, '--reason', REASON],
  ])
  assert.equal(code, 3)
  assert.match(stderr, /The anchor file is not a regular file/)
  assert.deepEqual(await restoredEntries(left), [])
})

const WRONG: [name: string, args: string[], code: number, message: RegExp][] = [
  ['no reason', ['--anchor-file', 'x'], 2, /required option '--reason <text>'/],
  ['an empty reason', ['--anchor-file', 'x', '--reason', ' '], 2, /--reason: say why/],
  [
    'an anchor file that is not there',
    ['--anchor-file', 'nowhere', '--reason', 'x'],
    3,
    /There is no anchor file nowhere; check --anchor-file\./,
  ],
]
for (const [name, args, code, message] of WRONG) {
  test(`refused: ${name}`, async () => {
    const ended = await run(['audit', 'restore', '--data', 'nowhere', ...args])
    assert.equal(ended.code, code)
    assert.match(ended.stderr, message)
  })
}
