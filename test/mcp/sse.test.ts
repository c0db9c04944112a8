import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { type EventFields, eventsOf, eventText } from '../../src/mcp/sse.ts'

async function read(chunks: readonly Uint8Array[], maxLength = 1000): Promise<(EventFields | 'comment')[]> {
  const events: (EventFields | 'comment')[] = []
  for await (const one of eventsOf(Readable.from(chunks), maxLength))
    events.push(one.kind === 'comment' ? 'comment' : one.fields)
  return events
}

const CASES: [text: string, events: (EventFields | 'comment')[]][] = [
  ['data: a\n\n', [{ data: 'a' }]],
  ['\ufeffdata: a\n\n', [{ data: 'a' }]],
  ['data: a\ndata:b\ndata\n\n', [{ data: 'a\nb\n' }]],
  ['data: a\r\rdata: b\n\r\ndata: c\r\n\ndata: d\n\n', [{ data: 'a' }, { data: 'b' }, { data: 'c' }, { data: 'd' }]],
  ['data:  a\n\n', [{ data: ' a' }]],
  ['data x: a\nDATA: a\n\n', []],
  ['event: x\nevent: message\ndata: a: b\n\n', [{ event: 'message', data: 'a: b' }]],
  ['id: 1\nid: \0\nretry: 5\nretry: 5s\n\n', [{ id: '1', retry: '5' }]],
  [': hello\n:\n\n', ['comment', 'comment']],
  ['data: a', []],
  ['data: a\n', []],
  ['\n\n\r\n', []],
]
for (const [text, events] of CASES) {
  test(`${JSON.stringify(text)} is ${events.length} events, however it comes`, async () => {
    const bytes = Buffer.from(text)
    assert.deepEqual(await read([bytes]), events)
    assert.deepEqual(await read(Array.from(bytes, (byte) => Uint8Array.of(byte))), events)
  })
}

const field = fc.stringMatching(/^[^\r\n\0]*$/)
const anyEvent = fc.record(
  {
    event: field,
    id: field,
    retry: fc.stringMatching(/^\d+$/),
    data: fc.array(field, { minLength: 1 }).map((lines) => lines.join('\n')),
  },
  { requiredKeys: ['data'], noNullPrototype: true },
)

test('property: what is written is what is read, with any ends of lines and in any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEvent),
      fc.infiniteStream(fc.constantFrom('\n', '\r', '\r\n')),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      async (events, ends, sizes) => {
        let isAfterReturn = false
        const text = events
          .map(eventText)
          .join('')
          .replace(/\n/g, () => {
            // A line feed after a carriage return ends no line of its own.
            const [end = '\n'] = ends.take(1)
            const written = isAfterReturn && end === '\n' ? '\r\n' : end
            isAfterReturn = end === '\r'
            return written
          })
        const bytes = Buffer.from(text)
        const chunks: Uint8Array[] = []
        for (let at = 0; at < bytes.length; ) {
          const [size = 1] = sizes.take(1)
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        assert.deepEqual(await read(chunks, 100_000), events)
      },
    ),
    { numRuns: 200 },
  )
})

test('a line, and an event of many lines, that are longer than the limit are refused', async () => {
  const limit = /An event has more than 1000 characters/
  await assert.rejects(read([Buffer.from(`data: ${'x'.repeat(1001)}`)]), limit)
  await assert.rejects(read([Buffer.from('data: x\n'.repeat(200))]), limit)
  assert.equal((await read([Buffer.from('data: x\n\n'.repeat(200))])).length, 200)
})
