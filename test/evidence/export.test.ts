import assert from 'node:assert/strict'
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportRange } from '../../src/actions/export-range.ts'
import { trustOf } from '../../src/actions/trust.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { ENTRIES_FILE, MANIFEST_FILE } from '../../src/evidence/export.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'
import { exportFolder, readExport } from '../../src/files/export-folder.ts'
import { grow } from '../audit/trail.ts'
import { temporaryFolder } from '../helpers.ts'
import { verifyByPython } from '../python.ts'
import { commit, LIVE, note, only, START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { mutations, type Value } from './mutations.ts'

/** What other readers take for the end of a line, and what a spreadsheet takes for a formula. */
const HOSTILE = { text: 'a\u2028b\u2029c\rd', formula: '=cmd|calc', quote: '"x", y' }

const trail = await openTrail(temporaryFolder())
await grow(trail, 300)
await commit(trail.store, only(note(HOSTILE)))
await grow(trail, 40)
const trust = trustOf(trail.store)
const length = (await trail.store.lengths([LIVE])).get(LIVE) ?? 0
const folder = temporaryFolder()
writeFileSync(join(folder, 'trust.json'), JSON.stringify(trustFile(trust)))

async function exported(first: number, end: number): Promise<string> {
  const dir = join(temporaryFolder(), 'export')
  const made = exportFolder(dir)
  const manifest = await exportRange(trail, LIVE, { first, end }, made)
  made.writeText(MANIFEST_FILE, JSON.stringify(manifest))
  return dir
}

const verify = (dir: string) => verifyExport(readExport(dir), { trust, nowMs: START_MS })

const byPython = (dir: string) => verifyByPython(dir, join(folder, 'trust.json'))

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
    assert.equal((await byPython(dir)).verdict, 'valid')
  })
}

test('whatever is changed of a manifest, it is not valid', async () => {
  const manifest = JSON.parse(readFileSync(join(whole, MANIFEST_FILE), 'utf8')) as Value
  const dir = join(temporaryFolder(), 'changed')
  cpSync(whole, dir, { recursive: true })
  let tried = 0
  for (const { name, value } of mutations(manifest)) {
    // A further signature takes nothing from the service's own; every seventh is enough for a range of 300.
    tried += 1
    const isSame = canonicalJson(value) === canonicalJson(manifest)
    if (tried % 7 !== 0 || isSame || name.startsWith('/signatures with')) continue
    writeFileSync(join(dir, MANIFEST_FILE), JSON.stringify(value))
    assert.equal((await verify(dir)).valid, false, name)
  }
  assert.equal(tried > 200, true)
})

const lines = readFileSync(join(whole, ENTRIES_FILE), 'utf8').split('\n')
const CHANGES: [name: string, lines: () => string[]][] = [
  ['an entry left out', () => lines.toSpliced(17, 1)],
  ['two entries changed for one another', () => lines.with(17, lines[18] ?? '').with(18, lines[17] ?? '')],
  ['an entry twice', () => lines.toSpliced(17, 0, lines[17] ?? '')],
  ['the last entry left out', () => lines.toSpliced(-2, 1)],
  ['one entry more', () => lines.toSpliced(-1, 0, lines[17] ?? '')],
  ['a word of an entry', () => lines.map((line) => line.replace('custom.note', 'custom.nose'))],
  ['the content of an entry', () => lines.map((line) => line.replace('{"n":4}', '{"n":5}'))],
  ['a space', () => lines.with(3, (lines[3] ?? '').replace(',', ', '))],
  ['nothing', () => ['']],
  ['no JSON', () => lines.with(5, '{')],
]

for (const [name, changed] of CHANGES) {
  test(`changed entries are not valid: ${name}`, async () => {
    const dir = join(temporaryFolder(), 'changed')
    cpSync(whole, dir, { recursive: true })
    writeFileSync(join(dir, ENTRIES_FILE), changed().join('\n'))
    const { verdict, checks } = await verify(dir)
    assert.equal(verdict, 'invalid')
    // Not only the digest of the file says so: who has the bundle key cannot have it otherwise either.
    const told = checks.filter(({ result }) => result === 'failed').map(({ check }) => check)
    assert.equal(told.length > 1, true, told.join())
    assert.equal((await byPython(dir)).verdict, 'invalid')
  })
}

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
