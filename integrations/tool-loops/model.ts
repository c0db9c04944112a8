import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { ChatCompletion, ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { Response, ResponseCreateParams } from 'openai/resources/responses/responses'

/** A call as a model writes it; a text is JSON, or what ought to be. */
interface Call {
  name: string
  args: Record<string, unknown> | string
}

const textOf = (args: Call['args']): string => (typeof args === 'string' ? args : JSON.stringify(args))

/** A completion that makes these calls; without any, one that says that it is done. */
export function completion(turn: number, calls: readonly Call[]): ChatCompletion {
  const tool_calls = calls.map(({ name, args }, i) => ({
    id: `call_${turn}_${i}`,
    type: 'function' as const,
    function: { name, arguments: textOf(args) },
  }))
  const message = { role: 'assistant' as const, content: calls.length > 0 ? null : 'Done.', refusal: null }
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const choice = {
    index: 0,
    finish_reason,
    logprobs: null,
    message: calls.length > 0 ? { ...message, tool_calls } : message,
  }
  return {
    id: `c${turn}`,
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [choice],
  } as ChatCompletion
}

/** The same as a response. */
export function response(turn: number, calls: readonly Call[]): Pick<Response, 'id' | 'output'> {
  const output = calls.map(({ name, args }, i) => ({
    type: 'function_call' as const,
    call_id: `call_${turn}_${i}`,
    name,
    arguments: textOf(args),
  }))
  return { id: `r${turn}`, output }
}

/** A server that speaks as OpenAI's does, with a model that makes these calls turn by turn. @returns its base URL, and what ends it */
export async function serve(turns: readonly (readonly Call[])[]): Promise<{ url: string; close(): void }> {
  let turn = 0
  const server = createServer(async (request, answer) => {
    ;(await json(request)) as ChatCompletionCreateParams | ResponseCreateParams
    const calls = turns[turn] ?? []
    turn += 1
    const body = request.url?.endsWith('/responses') ? response(turn, calls) : completion(turn, calls)
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() }
}
