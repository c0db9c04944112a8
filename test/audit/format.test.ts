import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { genesisHead, type Head } from '../../src/audit/chain.ts'
import { commitment, type Header, hashHeader, type StoredEntry, seal } from '../../src/audit/entry.ts'
import { entryFault, headOf } from '../../src/audit/verify.ts'
import { canonicalJson } from '../../src/base/canonical.ts'

interface VectorEntry {
  header: string
  hash: string
  sections: { name: string; salt: string; json: string }[]
}
interface Vector {
  origin: string
  chain: string
  genesisPrev: string
  entries: VectorEntry[]
}

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
/** Computed from docs/format.md by another program (make_vector.py beside it). */
const vector: Vector = JSON.parse(read('../testdata/format/vector.json'))
const entries = vector.entries.map(storedEntry)
const genesis = genesisHead(vector.origin, vector.chain)
const at = (seq: number): StoredEntry => entries[seq] ?? assert.fail(`no entry ${seq}`)
const headBefore = (seq: number): Head => (seq === 0 ? genesis : headOf(at(seq - 1)))

function storedEntry({ header, hash, sections }: VectorEntry): StoredEntry {
  return {
    header: JSON.parse(header) as Header,
    headerText: header,
    hash,
    sections: sections.map(({ name, salt, json }) => ({ name, salt: Buffer.from(salt, 'hex'), json })),
  }
}

test('the genesis value binds origin and chain', () => {
  assert.equal(genesis.hash, vector.genesisPrev)
  assert.notEqual(genesisHead('gate.other', vector.chain).hash, vector.genesisPrev)
  assert.notEqual(genesisHead(vector.origin, 'acme/test').hash, vector.genesisPrev)
})

for (const [seq, entry] of entries.entries()) {
  test(`seal makes entry ${seq} of the golden vector, byte for byte`, () => {
    const { id, chain, type, ts } = entry.header
    const sections = entry.sections.map(({ name, json }) => ({ name, json: canonicalJson(JSON.parse(json)) }))
    const salts = Buffer.concat(entry.sections.map(({ salt }) => salt))
    const sealed = seal(headBefore(seq), { id, chain, type, sections }, ts, salts)
    assert.deepEqual(Buffer.from(sealed.headerText), Buffer.from(entry.headerText))
    assert.equal(sealed.hash, entry.hash)
    assert.deepEqual(
      sealed.sections.map(({ json }) => json),
      entry.sections.map(({ json }) => json),
    )
  })

  test(`entry ${seq} of the golden vector follows from the one before`, () => {
    assert.equal(entryFault(vector.chain, headBefore(seq), entry), undefined)
  })
}

test('docs/format.md prints the hashes of the golden vector', () => {
  const printed = [
    ...read('../../docs/format.md').matchAll(/^(?:genesis|entry (\d)) +(sha256:\w{64})(?:.*header of (\d+) bytes)?$/gm),
  ]
  const expected = entries.map(({ hash, headerText }, i) => [String(i), hash, String(Buffer.byteLength(headerText))])
  assert.deepEqual(
    printed.map(([, seq, hash, bytes]) => [seq, hash, bytes]),
    [[undefined, vector.genesisPrev, undefined], ...expected],
  )
})

test('two sections of equal content have different commitments', () => {
  const [section] = at(2).sections
  assert.ok(section)
  assert.notEqual(commitment({ ...section, name: 'other' }), commitment(section))
  assert.notEqual(commitment({ ...section, salt: new Uint8Array(32) }), commitment(section))
})

type Alter = (entry: StoredEntry) => StoredEntry

/** The header as a forger would write it: text and members agree, the hash is what it was, or made to fit. */
function header(changes: Partial<Header>, options: { rehashed: boolean }): Alter {
  return (entry) => {
    const altered = { ...entry.header, ...changes }
    const headerText = canonicalJson(altered)
    return { ...entry, header: altered, headerText, hash: options.rehashed ? hashHeader(headerText) : entry.hash }
  }
}

const firstSection = (change: (section: StoredEntry['sections'][number]) => object): Alter => {
  return ({ sections: [first, ...rest], ...entry }) => {
    assert.ok(first)
    return { ...entry, sections: [{ ...first, ...change(first) }, ...rest] }
  }
}
const flipped = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes, (byte, i) => (i === 31 ? byte ^ 1 : byte))

const altered: { name: string; seq: number; alter: Alter }[] = [
  { name: 'chain', seq: 1, alter: header({ chain: 'acme/test' }, { rehashed: false }) },
  { name: 'id', seq: 1, alter: header({ id: 'aud_0000000000000000000000000d' }, { rehashed: false }) },
  { name: 'prev', seq: 1, alter: header({ prev: at(1).hash }, { rehashed: false }) },
  { name: 'seq', seq: 1, alter: header({ seq: 2 }, { rehashed: false }) },
  { name: 'ts', seq: 1, alter: header({ ts: '2026-01-01T00:00:01.001Z' }, { rehashed: false }) },
  { name: 'type', seq: 2, alter: header({ type: 'custom.nota' }, { rehashed: false }) },
  { name: 'commits', seq: 2, alter: header({ commits: at(0).header.commits }, { rehashed: false }) },
  { name: 'chain, hashed again', seq: 1, alter: header({ chain: 'acme/test' }, { rehashed: true }) },
  { name: 'prev, hashed again', seq: 1, alter: header({ prev: at(1).hash }, { rehashed: true }) },
  { name: 'seq, hashed again', seq: 1, alter: header({ seq: 2 }, { rehashed: true }) },
  { name: 'time back, hashed again', seq: 1, alter: header({ ts: '2025-12-31T23:59:59.999Z' }, { rehashed: true }) },
  { name: 'time in another form', seq: 1, alter: header({ ts: '2026-01-01T00:00:01Z' }, { rehashed: true }) },
  { name: 'hash', seq: 1, alter: (entry) => ({ ...entry, hash: at(2).hash }) },
  { name: 'white space in the text', seq: 1, alter: (e) => ({ ...e, headerText: e.headerText.replace(',', ', ') }) },
  { name: 'members unlike the text', seq: 1, alter: (e) => ({ ...e, header: { ...e.header, type: 'x.y' } }) },
  { name: 'section text', seq: 2, alter: firstSection(({ json }) => ({ json: json.replace('hello', 'hallo') })) },
  { name: 'section name', seq: 2, alter: firstSection(() => ({ name: 'dato' })) },
  { name: 'section salt', seq: 2, alter: firstSection(({ salt }) => ({ salt: flipped(salt) })) },
  {
    name: 'salt that takes the first byte of the text',
    seq: 2,
    alter: firstSection(({ salt, json }) => ({ salt: Buffer.concat([salt, Buffer.from('{')]), json: json.slice(1) })),
  },
  { name: 'section missing', seq: 1, alter: (e) => ({ ...e, sections: e.sections.slice(1) }) },
  { name: 'section twice', seq: 1, alter: (e) => ({ ...e, sections: [...e.sections, ...e.sections.slice(0, 1)] }) },
  {
    name: 'one section in place of another',
    seq: 1,
    alter: (e) => ({ ...e, sections: [...e.sections.slice(1), ...e.sections.slice(1, 2)] }),
  },
]

for (const { name, seq, alter } of altered) {
  test(`entryFault refuses an altered entry: ${name}`, () => {
    const entry = alter(at(seq))
    assert.notDeepEqual(entry, at(seq))
    const fault = entryFault(vector.chain, headBefore(seq), entry)
    assert.deepEqual(fault && { chain: fault.chain, seq: fault.seq }, { chain: vector.chain, seq })
  })
}

const misplaced: { name: string; after: Head; entry: StoredEntry; chain?: string }[] = [
  { name: 'the first after itself', after: headOf(at(0)), entry: at(0) },
  { name: 'the third after the first', after: headOf(at(0)), entry: at(2) },
  { name: 'the second as the first', after: genesis, entry: at(1) },
  { name: 'another chain', after: genesis, entry: at(0), chain: 'acme/test' },
  { name: 'another instance', after: genesisHead('gate.other', vector.chain), entry: at(0) },
]

for (const { name, after, entry, chain = vector.chain } of misplaced) {
  test(`entryFault refuses an entry out of place: ${name}`, () => {
    assert.equal(entryFault(chain, after, entry)?.seq, after.seq + 1)
  })
}

test('headers alone are checked without their sections', () => {
  const bare = { ...at(1), sections: [] }
  assert.equal(entryFault(vector.chain, headBefore(1), bare, { sections: false }), undefined)
  assert.equal(entryFault(vector.chain, headBefore(1), bare)?.seq, 1)
})

test('every byte of a stored header counts', () => {
  const { headerText } = at(1)
  const accepted: number[] = []
  for (let i = 0; i < headerText.length; i += 1) {
    const text = headerText.slice(0, i) + String.fromCharCode(headerText.charCodeAt(i) ^ 1) + headerText.slice(i + 1)
    const changed = parsed(text)
    if (changed === undefined) continue
    const fault = entryFault(vector.chain, headBefore(1), { ...at(1), header: changed, headerText: text })
    if (fault === undefined) accepted.push(i)
  }
  assert.deepEqual(accepted, [])
})

/** Undefined for a text that is no JSON: the store refuses that before. */
function parsed(text: string): Header | undefined {
  try {
    return JSON.parse(text) as Header
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
