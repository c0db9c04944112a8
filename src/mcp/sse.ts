import type { Readable } from 'node:stream'

/** Item of a stream: an event with its fields, or a comment, which keeps the stream alive. */
export type ServerEvent = { kind: 'event'; fields: EventFields } | { kind: 'comment' }

export interface EventFields {
  event?: string
  id?: string
  retry?: string
  data?: string
}

/** Reads the events of a stream (HTML, 9.2.6). An incomplete event at its end is dropped. @throws Error for a longer one */
export async function* eventsOf(stream: Readable, maxLength: number): AsyncGenerator<ServerEvent> {
  let fields: EventFields = {}
  let length = 0
  for await (const line of linesIn(stream, maxLength)) {
    length += line.length
    if (length > maxLength) throw tooLong(maxLength)
    if (line === '') {
      if (Object.keys(fields).length > 0) yield { kind: 'event', fields }
      fields = {}
      length = 0
    } else if (line.startsWith(':')) yield { kind: 'comment' }
    else fields = { ...fields, ...fieldOf(line, fields.data) }
  }
}

export function eventText({ event, id, retry, data }: EventFields): string {
  const lines = Object.entries({ event, id, retry }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\n`],
  )
  const text = data?.split('\n').map((line) => `data: ${line}\n`) ?? []
  return `${[...lines, ...text].join('')}\n`
}

function fieldOf(line: string, before: string | undefined): EventFields {
  const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/su.exec(line) ?? []
  if (name === 'data') return { data: before === undefined ? value : `${before}\n${value}` }
  if (name === 'event') return { event: value }
  if (name === 'id' && !value.includes('\0')) return { id: value }
  if (name === 'retry' && /^\d+$/.test(value)) return { retry: value }
  return {}
}

/** Splits lines at a line feed, a carriage return, or both. It scans each character of a chunk only once. */
async function* linesIn(stream: Readable, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  let length = 0
  let endedWithReturn = false
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true })
    if (text === '') continue
    let from = endedWithReturn && text.startsWith('\n') ? 1 : 0
    endedWithReturn = text.endsWith('\r')
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = from
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      yield parts.join('') + text.slice(from, end.index)
      from = ends.lastIndex
      parts = []
      length = 0
    }
    parts.push(text.slice(from))
    length += text.length - from
    if (length > maxLength) throw tooLong(maxLength)
  }
}

function tooLong(maxLength: number): Error {
  return new Error(`An event has more than ${maxLength} characters.`)
}
