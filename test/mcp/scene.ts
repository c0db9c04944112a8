import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { GateClient } from '../../src/client/index.ts'
import { Exchange } from '../../src/mcp/exchange.ts'
import { gatekeeper } from '../../src/mcp/gatekeeper.ts'
import { relayHttp } from '../../src/mcp/http.ts'
import type { Standing } from '../../src/mcp/sessions.ts'
import { ToolBook } from '../../src/mcp/tool-book.ts'
import { startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { MCP_POLICY } from './support.ts'

/* The relay over HTTP before a server that answers as a test wants it to. */

export const gate = await startGate({ after }, { policies: { 'acme/main.yaml': MCP_POLICY } })
export const approver = await gate.key({ roles: ['approver'], identity: 'ann' })

export type Answer = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  message: { id: unknown; method: string },
) => void
export const json = (outgoing: ServerResponse, value: unknown, status = 200, headers = {}): void =>
  void outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
export const result = (id: unknown, value: object) => ({ jsonrpc: '2.0', id, result: value })
export const ran: Answer = (_, outgoing, { id }) =>
  id === undefined
    ? void outgoing.writeHead(202).end()
    : json(outgoing, result(id, { content: [{ type: 'text', text: 'ran' }] }))

export interface Sent {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

export async function scene(answer: Answer = ran, sidecar = gate.server.url, { refusesDrift = true } = {}) {
  const agent = await gate.key({ roles: ['agent'] })
  /** Requests that reached the server. */
  const heard: { method: string; body: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming)
    heard.push({ method: incoming.method ?? '', body, headers: incoming.headers })
    answer(incoming, outgoing, body === '' ? { id: undefined, method: '' } : JSON.parse(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const book = new ToolBook({})
  const client = new GateClient({ tenantId: 'acme', apiKey: agent.secret, baseUrl: sidecar, timeout: 5000 })
  const keeper = (startsTainted: boolean) =>
    gatekeeper({
      client,
      book,
      prefix: '',
      trusted: new Set(['trusty']),
      approvalTimeout: 10_000,
      refusesDrift,
      startsTainted,
      onObserved: () => undefined,
      onUnrecorded: () => undefined,
    })
  const shared = keeper(false)
  const unreadable: string[] = []
  const told = {
    onDrift: () => undefined,
    onNewTools: () => undefined,
    onUnreadable: (why: string) => void unreadable.push(why),
  }
  const broken: string[] = []
  const makeExchange = (standing: Standing): Exchange =>
    new Exchange({
      gatekeeper: standing === 'stateless' ? shared : keeper(standing === 'unknown'),
      book,
      listener: told,
    })
  const relay = await relayHttp({
    upstream: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    port: 0,
    book,
    makeExchange,
    onBroken: (what) => void broken.push(what),
  })
  after(async () => {
    server.closeAllConnections()
    server.close()
    await relay.close()
  })
  const send = async (
    body: unknown,
    headers: Record<string, string> = {},
    path = '/mcp',
    method = 'POST',
  ): Promise<Sent> => {
    const sent = request(new URL(path, relay.url), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.end(method === 'POST' ? (typeof body === 'string' ? body : JSON.stringify(body)) : undefined)
    const [response] = await once(sent, 'response')
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { agent, heard, send, url: relay.url, broken, unreadable, makeExchange }
}

export const call = (name: string, args: object = {}, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, ...more },
})
export const told = ({ body }: Sent): string => JSON.parse(body).result.content[0].text
export const pendingOf = (agent: { secret: string; tenant: string }): Promise<string> =>
  until('an approval is asked for', async () => (await gate.call(agent, 'GET', '/approvals')).body.data[0]?.id)
