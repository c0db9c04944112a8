import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addPins, readPins } from '../../src/mcp/pins.ts'
import { type Tool, ToolBook } from '../../src/mcp/tool-book.ts'
import { temporaryFolder } from '../helpers.ts'

const tool = (name: string, description = ''): Tool => ({ name, description })

test('of two relays with one file, the definition that was pinned first counts for both', () => {
  const path = join(temporaryFolder(), 'pins.json')
  const [first, second] = [new ToolBook(readPins(path)), new ToolBook(readPins(path))]
  first.see([tool('look', 'one'), tool('same')])
  assert.deepEqual(first.agree(addPins(path, first.pins())), [])
  const kept = readFileSync(path, 'utf8')
  second.see([tool('look', 'two'), tool('same')])
  const [drift, ...others] = second.agree(addPins(path, second.pins()))
  assert.deepEqual([drift?.tool, drift?.before, others], ['look', first.pins().look, []])
  assert.match(second.objection('look') ?? '', /is not the one that was seen first/)
  assert.equal(second.objection('same'), undefined)
  assert.equal(first.objection('look'), undefined)
  assert.equal(readFileSync(path, 'utf8'), kept)
  assert.equal(second.see([tool('look', 'one')]).drifts.length, 0)
  assert.match(second.objection('look') ?? '', /is not the one/, 'a change stays one')
})

test('of more tools than are kept, the others cannot be relied on, and nothing more is kept of them', () => {
  const book = new ToolBook({})
  assert.equal(book.see([tool('x'.repeat(257))]).hasNew, false)
  assert.equal(book.see(Array.from({ length: 10_000 }, (_, i) => tool(`t${i}`))).hasNew, true)
  const more = { ...tool('more'), annotations: { destructiveHint: true } }
  assert.deepEqual(book.see([more]), { drifts: [], hasNew: false })
  assert.match(book.objection('more') ?? '', /more than 10000 tools, and more is not among those/)
  assert.equal(book.objection('t9999'), undefined)
  assert.equal(book.hints('more').listed, false)
  assert.equal(Object.keys(book.pins()).length, 10_000)
})

test('a number that is none to JavaScript is a part of the definition', () => {
  const book = new ToolBook({})
  const odd = (limit: number): Tool => ({ name: 'look', half: '\ud800', limit })
  book.see([odd(Number.POSITIVE_INFINITY)])
  assert.equal(book.see([odd(Number.NEGATIVE_INFINITY)]).drifts.length, 1)
})

test('a hint that was given once stays, and a tool that nobody has listed is known as one', () => {
  const book = new ToolBook({})
  const listed = { listed: true, openWorld: false, notIdempotent: false }
  assert.deepEqual(book.hints('wipe'), { listed: false, destructive: false, openWorld: false, notIdempotent: false })
  book.see([{ ...tool('wipe'), annotations: { destructiveHint: true } }])
  book.see([{ ...tool('wipe'), annotations: { destructiveHint: false } }])
  assert.deepEqual(book.hints('wipe'), { ...listed, destructive: true })
})
