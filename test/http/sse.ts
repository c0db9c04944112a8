import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cleanup } from '../helpers.ts'
import { until } from '../until.ts'

export interface SseEvent {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: events are asserted member by member
  data: any
  atMs: number
}

/** A reader of server-sent events, after the rules of the HTML standard. */
export interface Reader {
  status: number
  headers: IncomingHttpHeaders
  events: SseEvent[]
  /** The id to go on from. */
  lastId(): string
  retry(): number | undefined
  comments(): number
  /** The first event that fits, once it is there. */
  find(fits: (event: SseEvent) => boolean): Promise<SseEvent>
  /** Resolves when the stream is over; tells whether its end was regular. */
  ended: Promise<boolean>
  /** All that came. */
  text(): string
  response: IncomingMessage
  close(): void
}

/** Opens the stream of events. `url` is that of the service. */
export async function openStream(
  t: Cleanup,
  url: string,
  key: { secret: string; tenant: string },
  lastEventId?: string,
): Promise<Reader> {
  const reader = await openStreamAt(t, `${url}/events`, key, lastEventId)
  // The first block says where the stream starts.
  if (reader.status === 200) while (reader.lastId() === '') await sleep(1)
  return reader
}

/** Opens whatever stream is there. */
export async function openStreamAt(
  t: Cleanup,
  url: string,
  key: { secret: string; tenant: string },
  lastEventId?: string,
): Promise<Reader> {
  const headers = {
    'x-api-key': key.secret,
    'x-tenant-id': key.tenant,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const sent = request(url, { headers, agent: false }).end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject)
  })
  const parsed = parser()
  response.setEncoding('utf8').on('data', parsed.take)
  const ended = new Promise<boolean>((resolve) => {
    response.once('end', () => resolve(true)).once('error', () => resolve(false))
    response.once('close', () => resolve(false))
  })
  const close = (): void => void sent.destroy()
  t.after(close)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    ...parsed,
    find: (fits) => until('the event comes', () => parsed.events.find(fits)),
    ended,
    response,
    close,
  }
}

function parser() {
  const events: SseEvent[] = []
  let all = ''
  let rest = ''
  let id = ''
  let retry: number | undefined
  let comments = 0
  let next = { event: '', data: '' }
  const line = (text: string): void => {
    if (text === '') {
      if (next.data !== '') events.push({ id, event: next.event, data: JSON.parse(next.data), atMs: performance.now() })
      next = { event: '', data: '' }
      return
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(text) ?? []
    if (name === '') comments += 1
    else if (name === 'id') id = value
    else if (name === 'retry') retry = Number(value)
    else if (name === 'event' || name === 'data') next[name] += value
    else assert.fail(`an unknown field ${text}`)
  }
  return {
    events,
    take(chunk: string): void {
      all += chunk
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(line)
    },
    lastId: () => id,
    retry: () => retry,
    comments: () => comments,
    text: () => all,
  }
}
