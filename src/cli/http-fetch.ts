import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'

/**
 * As much of `fetch` as the client needs, over plain HTTP. The global one takes half as long to load as Node.js takes to start,
 * which every tool call of an agent would wait for.
 */
export const httpFetch: typeof fetch = async (input, init = {}) => {
  const url = new URL(String(input))
  if (url.protocol !== 'http:') return fetch(input, init)
  const { method = 'GET', headers, body, signal } = init
  const asking = request(url, {
    method,
    headers: headers as Record<string, string>,
    ...(signal && { signal }),
  })
  asking.end(body)
  const answer = await Promise.race([responseOf(asking), closed(asking)])
  const { statusCode: status = 0 } = answer
  const parts: AsyncIterator<Uint8Array> = answer[Symbol.asyncIterator]()
  const given = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
  // What the client reads of a response. The class itself is loaded with `fetch`.
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name: string) => given.get(name) ?? null },
    body: { getReader: () => ({ read: () => parts.next(), cancel: async () => void answer.destroy() }) },
  } as unknown as Response
}

async function responseOf(asking: ClientRequest): Promise<IncomingMessage> {
  const [answer] = await once(asking, 'response')
  return answer
}

/** Node.js drops a connection that goes over to another protocol, without an error. */
async function closed(asking: ClientRequest): Promise<never> {
  await once(asking, 'close')
  throw new Error('The connection was closed without an answer')
}
