import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A call as a model writes it; a text is JSON, or what ought to be. */
interface Call {
  name: string
  args: Record<string, unknown> | string
}

interface MessagesRequest {
  stream?: boolean
  tools?: unknown[]
  messages: { role: string; content: string | Block[] }[]
}

interface Block {
  type: string
  tool_use_id?: string
  content?: unknown
}

export interface Provider {
  url: string
  /** Requests of the agent's conversation, oldest first. */
  requests: MessagesRequest[]
  close(): void
}

/** A server that speaks as Anthropic's does, with a model that makes these calls turn by turn, and then says that it is done. */
export async function serve(turns: readonly (readonly Call[])[]): Promise<Provider> {
  const requests: MessagesRequest[] = []
  let turn = 0
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end()
    const asked = (await json(request)) as MessagesRequest
    if (request.url.includes('count_tokens')) return void response.end('{"input_tokens": 1}')
    // Questions beside the conversation, such as for a title, offer no tools.
    const isConversation = (asked.tools ?? []).length > 0
    if (isConversation) requests.push(asked)
    const calls = isConversation ? (turns[turn] ?? []) : []
    if (isConversation) turn += 1
    speak(response, turn, calls)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, close: () => void server.close() }
}

function speak(response: ServerResponse, turn: number, calls: readonly Call[]): void {
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'scripted', content: [], usage }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } })
  for (const [index, { name, args }] of calls.entries()) {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    const content_block = { type: 'tool_use', id: `toolu_${turn}_${index}`, name, input: {} }
    send('content_block_start', { index, content_block })
    send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: text } })
    send('content_block_stop', { index })
  }
  if (calls.length === 0) {
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Done.' } })
    send('content_block_stop', { index: 0 })
  }
  send('message_delta', {
    delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage,
  })
  send('message_stop', {})
  response.end()
}

/** Results of calls in the last request to the model, in order. */
export function toldTo({ requests }: Provider): { id: string; text: string }[] {
  const blocks = (requests.at(-1)?.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content,
  )
  return blocks.flatMap(({ type, tool_use_id = '', content }) =>
    type === 'tool_result' ? [{ id: tool_use_id, text: textOf(content) }] : [],
  )
}

/** Text of a result, without the reminders that Claude Code adds for the model. */
function textOf(content: unknown): string {
  const text = Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : content
  return String(text).replace(/\s*<system-reminder>[\s\S]*$/, '')
}
