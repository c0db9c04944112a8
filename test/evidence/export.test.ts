import assert from 'node:assert/strict'
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportRange } from '../../src/actions/audit/export-range.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { anchorLine, parseAnchor } from '../../src/evidence/anchor.ts'
import { ENTRIES_FILE, MANIFEST_FILE } from '../../src/evidence/export.ts'
import { parseCheckpointNote } from '../../src/evidence/note.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'
import { exportFolder, readExport } from '../../src/files/export-folder.ts'
import { readSigningKey } from '../../src/files/signing-key.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { grow } from '../audit/trail.ts'
import { temporaryFolder } from '../helpers.ts'
import { commit, LIVE, note, only, START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { FULL, some } from '../tier.ts'
import { signCheckpoint } from './forge.ts'
import { mutations, type Value } from './mutations.ts'
import { byPython, ours } from './python.ts'

/** Values that other readers take for the end of a line, or a spreadsheet for a formula. */
const HOSTILE = { text: 'a\u2028b\u2029c\rd', formula: '=cmd|calc', quote: '"x", y' }

const data = temporaryFolder()
const trail = await openTrail(data)
await grow(trail, 300)
await commit(trail.store, only(note(HOSTILE)))
await grow(trail, 40)
const trust = trustOf(trail.store)
const length = await lengthOf(trail.store, LIVE)

async function exported(first: number, end: number): Promise<string> {
  const dir = join(temporaryFolder(), 'export')
  const made = exportFolder(dir)
  const manifest = await exportRange(trail, LIVE, { first, end }, made)
  made.writeText(MANIFEST_FILE, JSON.stringify(manifest))
  return dir
}

const verify = (dir: string) => verifyExport(readExport(dir), { trust, nowMs: START_MS })

/** Both verifiers say the same of every check; what is not ok. */
async function judged(dirs: readonly string[], anchors = ''): Promise<string[][]> {
  const now = formatTimestamp(START_MS)
  const told = await byPython(
    dirs.map((evidence) => ({ evidence, trust: JSON.stringify(trustFile(trust)), anchors, now })),
  )
  const inputs = { trust, nowMs: START_MS, anchors: anchors.split('\n').flatMap((line) => parseAnchor(line) ?? []) }
  const here: string[][] = []
  for (const [i, dir] of dirs.entries()) {
    const essence = ours(await verifyExport(readExport(dir), inputs))
    assert.deepEqual(told[i], essence, dir)
    here.push(essence.checks.filter((check) => !check.endsWith(': ok')))
  }
  return here
}

const whole = await exported(0, length)

for (const [first, end] of [
  [0, length],
  [0, 1],
  [255, 257],
  [100, 342],
  [length - 1, length],
  [7, 7],
]) {
  test(`the entries from ${first} to before ${end} verify, for Python too`, async () => {
    const dir = await exported(first ?? 0, end ?? 0)
    const { verdict, reasons } = await verify(dir)
    assert.deepEqual({ verdict, reasons }, { verdict: 'valid', reasons: [] })
    assert.deepEqual(await judged([dir]), [[]])
  })
}

test('whatever is changed of a manifest, it is not valid, and both verifiers say of every check the same', async () => {
  const short = await exported(330, 340)
  const manifest = JSON.parse(readFileSync(join(short, MANIFEST_FILE), 'utf8')) as Value
  const dirs: string[] = []
  const all = [...mutations(manifest)]
  assert.equal(all.length > 200, true)
  for (const { name, value } of some(all)) {
    // A further signature takes nothing from the service's own.
    if (canonicalJson(value) === canonicalJson(manifest) || name === '/signatures with one member more') continue
    const dir = copyOf(short)
    writeFileSync(join(dir, MANIFEST_FILE), JSON.stringify(value))
    dirs.push(dir)
  }
  for (const [i, failed] of (await judged(dirs)).entries()) assert.notDeepEqual(failed, [], dirs[i])
})

function copyOf(dir: string): string {
  const copy = join(temporaryFolder(), 'changed')
  cpSync(dir, copy, { recursive: true })
  return copy
}

const lines = readFileSync(join(whole, ENTRIES_FILE), 'utf8').split('\n')
const CUT = ['files: failed', 'segment: failed', 'inclusion: failed']
const CHANGES: [name: string, lines: () => string[], failed: string[]][] = [
  ['an entry left out', () => lines.toSpliced(17, 1), CUT],
  ['two entries changed for one another', () => lines.with(17, lines[18] ?? '').with(18, lines[17] ?? ''), CUT],
  ['an entry twice', () => lines.toSpliced(17, 0, lines[17] ?? ''), CUT],
  ['the last entry left out', () => lines.toSpliced(-2, 1), CUT],
  ['one entry more', () => lines.toSpliced(-1, 0, lines[17] ?? ''), ['files: failed', 'segment: failed']],
  ['a word of an entry', () => lines.map((line) => line.replace('custom.note', 'custom.nose')), CUT],
  [
    'the content of an entry',
    () => lines.map((line) => line.replace('{"n":4}', '{"n":5}')),
    ['files: failed', 'openings: failed'],
  ],
  ['a space', () => lines.with(3, (lines[3] ?? '').replace(',', ', ')), CUT],
  ['nothing', () => [''], CUT],
  ['no JSON', () => lines.with(5, '{'), CUT],
  ['an empty line at the end', () => [...lines, ''], ['files: failed', 'segment: failed']],
  ['no line feed at the end', () => lines.slice(0, -1), ['files: failed']],
]

for (const [name, changed, failed] of CHANGES) {
  test(`changed entries are not valid, and not only by the digest of the file: ${name}`, async () => {
    const dir = copyOf(whole)
    writeFileSync(join(dir, ENTRIES_FILE), changed().join('\n'))
    assert.deepEqual(await judged([dir]), [failed])
  })
}

test('without its entries, an export has none', async () => {
  const [long, empty] = [copyOf(whole), copyOf(await exported(7, 7))]
  for (const dir of [long, empty]) rmSync(join(dir, ENTRIES_FILE))
  assert.deepEqual(await judged([long, empty]), [CUT, ['files: failed']])
})

test('an anchor of a tree that the export shows, and of another, is a split view; of others nothing can be told', async () => {
  const dir = await exported(100, 200)
  const signed = parseCheckpointNote(JSON.parse(readFileSync(join(dir, MANIFEST_FILE), 'utf8')).checkpoint)
  assert.ok(signed !== undefined)
  const key = readSigningKey(join(data, 'signing-key.pem'))
  assert.ok(key !== undefined)
  for (const { size, isShown } of [
    { size: 99, isShown: false },
    { size: 100, isShown: true },
    { size: 157, isShown: true },
    { size: 200, isShown: true },
    { size: 201, isShown: false },
    { size: signed.size, isShown: true },
    { size: signed.size + 1, isShown: false },
  ].filter((_, i) => FULL || i % 3 === 1)) {
    const of = async (root: Uint8Array) => {
      const checkpoint = signCheckpoint({ ...signed, size, root }, key)
      return judged([dir], anchorLine({ at: formatTimestamp(START_MS), checkpoint }))
    }
    assert.deepEqual(await of(new Uint8Array(32)), [isShown ? ['anchors: failed'] : []], `another tree of ${size}`)
    if (size > signed.size) continue
    const [root] = await trail.store.treeHashes(LIVE, [{ begin: 0, end: size }])
    assert.deepEqual(await of(root ?? assert.fail()), [[]], `the tree of ${size}`)
  }
})

test('a file that is missing or was added to is told', async () => {
  const dir = join(temporaryFolder(), 'changed')
  cpSync(whole, dir, { recursive: true })
  appendFileSync(join(dir, 'entries.csv'), 'x')
  assert.equal((await verify(dir)).verdict, 'invalid')
  rmSync(join(dir, 'entries.csv'))
  assert.match((await verify(dir)).reasons.join(), /entries\.csv is missing/)
})

test('a spreadsheet takes nothing in it for a formula, and for one row each entry', async () => {
  const csv = readFileSync(join(whole, 'entries.csv'), 'utf8')
  assert.equal(csv.split('\r\n').length, length + 2)
  assert.equal(/(^|,)[=+@]/m.test(csv), false)
})

test('an export goes over no other', async () => {
  await assert.rejects(async () => exportRange(trail, LIVE, { first: 0, end: 2 }, exportFolder(whole)), {
    code: 'EEXIST',
  })
})
