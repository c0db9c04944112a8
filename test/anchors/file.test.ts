import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SinkFailure } from '../../src/actions/anchors/anchors.ts'
import { anchorFile } from '../../src/anchors/file.ts'
import { checkpointText } from '../../src/audit/checkpoint.ts'
import { anchorLine } from '../../src/evidence/anchor.ts'
import { formatNote } from '../../src/evidence/note.ts'
import { temporaryFolder } from '../helpers.ts'
import { anchored } from './support.ts'

const { signal } = new AbortController()
const KEY = { name: 'gate-x', publicKey: Buffer.alloc(32, 1).toString('base64') }

/** An anchor that nobody has signed, which a file does not ask for. */
function anchorOf(chain: string, size: number) {
  const text = checkpointText({ origin: KEY.name, chain, size, root: new Uint8Array(32) })
  return { at: '2026-01-01T00:00:00.000Z', checkpoint: formatNote(text, KEY, Buffer.alloc(64).toString('base64')) }
}
const pathIn = (folder = temporaryFolder()): string => join(folder, 'anchors.jsonl')
const sizes = async (path: string): Promise<Record<string, number>> => {
  const { newest } = await anchorFile(path).newest()
  return Object.fromEntries(Array.from(newest, ([chain, { size }]) => [chain, size]))
}

test('the file is made for its owner alone, and grows by a line for each anchor', async () => {
  const path = pathIn()
  const sink = anchorFile(path)
  await sink.take([anchorOf('a/live', 1), anchorOf('_system', 2)], signal)
  await sink.take([anchorOf('a/live', 3)], signal)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(anchored(path), ['a/live 1', '_system 2', 'a/live 3'])
  assert.equal(readFileSync(path, 'utf8').endsWith('\n'), true)
  assert.deepEqual(await sizes(path), { 'a/live': 3, _system: 2 })
})

test('a file that is there already keeps its mode and its content', async () => {
  const path = pathIn()
  writeFileSync(path, `${anchorLine(anchorOf('a/live', 1))}\n`, { mode: 0o640 })
  chmodSync(path, 0o640)
  await anchorFile(path).take([anchorOf('a/live', 2)], signal)
  assert.equal(statSync(path).mode & 0o777, 0o640)
  assert.deepEqual(anchored(path), ['a/live 1', 'a/live 2'])
})

test('what a crash left of a last line stays alone on its line', async () => {
  const path = pathIn()
  const line = anchorLine(anchorOf('a/live', 1))
  writeFileSync(path, `${line}\n${line.slice(0, 40)}`)
  await anchorFile(path).take([anchorOf('a/live', 2)], signal)
  assert.deepEqual(anchored(path), ['a/live 1', 'malformed line', 'a/live 2'])
  assert.equal((await anchorFile(path).newest()).malformed, 1)
})

test('the newest line of a chain counts, whatever its size', async () => {
  const path = pathIn()
  await anchorFile(path).take([anchorOf('a/live', 9), anchorOf('b/live', 4), anchorOf('a/live', 5)], signal)
  assert.deepEqual(await sizes(path), { 'a/live': 5, 'b/live': 4 })
})

test('a line that others have written in another form is an anchor as well, and no newer than its place', async () => {
  const path = pathIn()
  const { at, checkpoint } = anchorOf('a/live', 3)
  writeFileSync(path, `${JSON.stringify({ v: 1, checkpoint, at })}\n`)
  assert.deepEqual(await sizes(path), { 'a/live': 3 })
  await anchorFile(path).take([anchorOf('a/live', 5)], signal)
  assert.deepEqual(await sizes(path), { 'a/live': 5 })
})

const MALFORMED: [name: string, text: string | Buffer][] = [
  ['a line that is no JSON', 'x\n'],
  ['a line of another version', `${anchorLine(anchorOf('a/live', 2)).replace('"v":1', '"v":2')}\n`],
  ['a line that holds no checkpoint', `${anchorLine({ at: '2026-01-01T00:00:00.000Z', checkpoint: 'none' })}\n`],
  ['a line without end, longer than any anchor', 'x'.repeat(3_000_000)],
  ['a line longer than any anchor, before others', `${'x'.repeat(3_000_000)}\n`],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a])],
]
for (const [name, text] of MALFORMED) {
  test(`passed over and counted: ${name}`, async () => {
    const path = pathIn()
    writeFileSync(path, `${anchorLine(anchorOf('a/live', 1))}\n\n`)
    appendFileSync(path, text)
    assert.deepEqual(await sizes(path), { 'a/live': 1 })
    assert.equal((await anchorFile(path).newest()).malformed, 1)
    await anchorFile(path).take([anchorOf('a/live', 7)], signal)
    assert.deepEqual(await sizes(path), { 'a/live': 7 })
  })
}

test('a file of many megabytes is read without keeping it', async () => {
  const path = pathIn()
  const lines = Array.from({ length: 1000 }, (_, size) => `${anchorLine(anchorOf(`t${size % 10}/live`, size))}\n`)
  const text = lines.join('')
  for (let bytes = 0; bytes < 80 * 2 ** 20; bytes += text.length) appendFileSync(path, text)
  appendFileSync(path, lines.slice(0, 5).join(''))
  const before = process.memoryUsage().rss
  const { newest, malformed } = await anchorFile(path).newest()
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  assert.equal(grown < 60, true, `${grown} MiB more`)
  assert.equal(malformed, 0)
  const expected = [0, 1, 2, 3, 4, 995, 996, 997, 998, 999]
  assert.deepEqual(
    expected.map((_, n) => newest.get(`t${n}/live`)?.size),
    expected,
  )
})

test('no file is no anchor yet', async () => {
  const path = pathIn()
  assert.deepEqual(await anchorFile(path).newest(), { newest: new Map(), malformed: 0 })
  assert.equal(await anchorFile(path).version(), 'none')
  assert.equal(existsSync(path), false)
})

test('another version after each line', async () => {
  const path = pathIn()
  const sink = anchorFile(path)
  await sink.take([anchorOf('a/live', 1)], signal)
  const first = await sink.version()
  assert.equal(await sink.version(), first)
  await sink.take([anchorOf('a/live', 2)], signal)
  assert.notEqual(await sink.version(), first)
})

function folder(): string {
  const path = pathIn()
  mkdirSync(path)
  return path
}
const UNUSABLE: [name: string, path: string, code: RegExp][] = [
  ['a folder', folder(), /EISDIR/],
  ['a file in a folder that is not there', join(temporaryFolder(), 'none', 'anchors.jsonl'), /ENOENT/],
  ['a full disk', '/dev/full', /ENOSPC/],
]
for (const [name, path, code] of UNUSABLE) {
  test(`${name} takes nothing, and the failure names no path`, async () => {
    await assert.rejects(anchorFile(path).take([anchorOf('a/live', 1)], signal), (error) => {
      assert.equal(error instanceof SinkFailure, true)
      assert.match(String(error), code)
      assert.equal(String(error).includes(path), false)
      return true
    })
  })
}

for (const path of [folder(), '/dev/full']) {
  test(`${path === '/dev/full' ? 'a device' : 'a folder'} holds no anchors that could be read back`, async () => {
    await assert.rejects(anchorFile(path).newest(), SinkFailure)
  })
}
