import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { runs } from '../tier.ts'
import { withTables } from './old-tables.ts'
import { copyOf, type Finding, findingIn, tamper, usedFolder } from './used-folder.ts'

/** Turns blobs into text: the type that SQLite gives to the same bytes makes no difference. Stored text is ASCII. */
const asText = (_: string, value: unknown) => (isBuffer(value) ? Buffer.from(value.data).toString('latin1') : value)

function isBuffer(value: unknown): value is { type: 'Buffer'; data: number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
}

/** Everything that the audit trail and the decisions stand on; headers and bodies hold the keys of rows once more. */
function contentOf(dir: string): string[][] {
  const db = withTables(new Sqlite(join(dir, DATA_FILE), { readonly: true }))
  const kinds = ['tenant', 'api_key', 'signing_key', 'policy', 'kill_switch', 'approval']
  const queries = [
    'SELECT origin FROM instance',
    'SELECT header, hash FROM entry',
    'SELECT name, salt, json FROM section',
    ...kinds.map((kind) => `SELECT id, body FROM ${kind} ORDER BY id`),
    ...kinds.map(
      (kind) => `SELECT body FROM ${kind} INDEXED BY ${kind}_${kind === 'approval' ? 'due' : 'changed'} WHERE true`,
    ),
  ]
  try {
    return queries.map((query) =>
      db
        .prepare(query)
        .all()
        .map((row) => JSON.stringify(row, asText))
        .sort(),
    )
  } finally {
    db.close()
  }
}

/** Returns the state that a service keeps in memory after it has started on the file. */
async function stateOf(dir: string): Promise<object> {
  const store = openStore({ dir, create: false, clock: Date.now })
  const { tenants, keys, signingKeys, policies, switches } = store.state()
  await store.close()
  return { tenants, keys, signingKeys, policies, switches }
}

/** Makes the check of a flipped bit: it is found, or the copy holds what the folder does. */
async function flipsOf(dir: string) {
  const bytes = readFileSync(join(dir, DATA_FILE))
  const content = contentOf(dir)
  const state = await stateOf(dir)
  const flip = async (at: number, bit: number): Promise<Finding> => {
    const copy = copyOf(dir)
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
    writeFileSync(join(copy, DATA_FILE), flipped)
    const { finding } = await findingIn(copy)
    if (finding !== 'nothing found') return finding
    assert.deepEqual(contentOf(copy), content)
    assert.deepEqual(await stateOf(copy), state)
    return finding
  }
  return { bytes, flip }
}

test('a bit of the file that flips is found, or changes nothing that is stored', async (t) => {
  const { bytes, flip } = await flipsOf(await usedFolder(t))
  const findings = new Set<Finding>()
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 7 }), async (at, bit) => {
      findings.add(await flip(at, bit))
    }),
    { numRuns: runs(150), includeErrorInReport: true },
  )
  assert.ok(findings.size > 1, 'some flips were found and some did no harm')
})

/** Keys of rows, with the bit that flips in their first byte, or another one: few random flips meet them. */
const KEYS: { what: string; sql: string; byte?: number; bit: number }[] = [
  {
    what: 'the number of its chain in the place of an entry',
    sql: `SELECT at FROM audit_entry WHERE data = '{"n":150}'`,
    bit: 6,
  },
  { what: 'the name of a chain', sql: 'SELECT name FROM chain', bit: 0 },
  { what: 'the id of a stop', sql: 'SELECT id FROM kill_switch', bit: 1 },
  { what: 'the deadline of an approval', sql: 'SELECT expires_at FROM approval', bit: 0 },
  {
    what: 'the place of an entry in the index of types',
    sql: `SELECT unhex(hex(type) || format('%012x', at)) FROM audit_entry WHERE data = '{"n":150}'`,
    byte: 'custom.note'.length + 11,
    bit: 0,
  },
]

test('a bit that flips in a key of a row is found, or changes nothing that is stored', async (t) => {
  const dir = await usedFolder(t)
  const { bytes, flip } = await flipsOf(dir)
  for (const { what, sql, byte = 0, bit } of KEYS) {
    await t.test(what, async () => {
      const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
      const keys = db.prepare<[], string | number | Buffer>(sql).pluck().all()
      db.close()
      const places = keys.flatMap((key) => [...placesOf(bytes, typeof key === 'number' ? varint(key) : key)])
      // In JSON, a text is no key.
      const findings = await Promise.all(
        places.filter((at) => bytes[at - 1] !== 0x22).map((at) => flip(at + byte, bit)),
      )
      assert.ok(findings.some((finding) => finding !== 'nothing found'))
    })
  }
})

/** Bytes of a large number in SQLite's form (its file format, 1.6). */
function varint(value: number): Buffer {
  const groups = [value & 127]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift((rest % 128) | 128)
  return Buffer.from(groups)
}

/** Texts of the file whose end quote goes, so that they are no JSON any more; and the words that name the place. */
const broken: { text: string; named: RegExp }[] = [
  { text: '"record":"key"', named: /Audit chain|acme\/live, entry/ },
  { text: '"decidedBy":"', named: /acme\/(live|test), entry \d+: section grounds|other\/live, entry/ },
  { text: '"factors":[', named: /entry \d+: section risk|approval apr_/ },
  { text: '"roles":["agent"]', named: /Audit chain|key key_|acme\/live, entry/ },
  { text: '"status":"consumed"', named: /approval apr_|acme\/live, entry/ },
  { text: '"plan":"enterprise"', named: /tenant (acme|other)|_system, entry/ },
]

test('text that is no JSON any more is found and named', async (t) => {
  const dir = await usedFolder(t)
  const bytes = readFileSync(join(dir, DATA_FILE))
  for (const { text, named } of broken) {
    await t.test(text, async () => {
      const places = [...placesOf(bytes, text)]
      assert.ok(places.length > 0)
      for (const at of places.slice(0, 8)) {
        const copy = copyOf(dir)
        const altered = Buffer.from(bytes)
        altered[at + text.indexOf('"', 1)] = 0x20
        writeFileSync(join(copy, DATA_FILE), altered)
        const { finding, message } = await findingIn(copy)
        assert.notEqual(finding, 'nothing found')
        assert.match(message, named)
      }
    })
  }
})

function* placesOf(bytes: Buffer, text: string | Buffer): Generator<number> {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) yield at
}

test('digests of another type are found and named, though their bytes are the same', async (t) => {
  const dir = await usedFolder(t)
  for (const column of ['hash', 'prev', 'commits']) {
    const copy = copyOf(dir)
    tamper(copy, (db) => {
      const strict =
        db.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'audit_entry'").pluck().get() ?? ''
      const become = (sql: string): void => {
        db.unsafeMode().pragma('writable_schema = ON')
        db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'audit_entry'").run(sql)
        db.pragma('writable_schema = RESET')
      }
      become(strict.replace(/ STRICT$/, ''))
      const place = `(SELECT max(at) FROM audit_entry WHERE type = 'custom.note')`
      db.exec(`UPDATE audit_entry SET ${column} = CAST(${column} AS TEXT) WHERE at = ${place}`)
      become(strict)
    })
    const { message } = await findingIn(copy)
    assert.match(message, /acme\/\w+, entry \d+: a column holds no value of its form/)
  }
})
