import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Step } from './cases.ts'

export interface Between {
  url: string
  /** Requests of clients since `play`, oldest first. */
  requests: { line: string; key: string | undefined }[]
  /** Sets how the next requests fare. */
  play(steps: readonly Step[], always: Step): void
  close(): Promise<void>
}

/** Stands between clients and a sidecar, and does to requests what networks do. */
export async function between(target: string): Promise<Between> {
  let steps: Step[] = []
  let last: Step = 'pass'
  const requests: Between['requests'] = []
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    const path = (incoming.url ?? '').split('?')[0]
    requests.push({
      line: `${incoming.method} ${path}`,
      key: incoming.headers['idempotency-key'] as string | undefined,
    })
    await perform(steps.shift() ?? last, target, incoming, body, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(next, always) {
      steps = [...next]
      last = always
      requests.length = 0
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function perform(
  step: Step,
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<void> {
  const { socket } = outgoing
  if (step === 'reset') return void socket?.destroy()
  if (step === 'hang') return
  if (typeof step === 'object' && 'status' in step) {
    const { status, headers = {}, body: json, text = JSON.stringify(json) } = step
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    return
  }
  const answer = await forward(target, incoming, body)
  if (step === 'late') await setTimeout(1000)
  if (step === 'pass' || step === 'late') {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(outgoing)
    outgoing.on('close', () => answer.destroy())
    return
  }
  const whole = await buffer(answer)
  if (step === 'lose') return void socket?.destroy()
  if (step === 'cut') {
    outgoing.writeHead(200, { ...answer.headers, 'content-length': whole.length })
    outgoing.write(whole.subarray(0, whole.length / 2), () => socket?.destroy())
    return
  }
  if (step === 'drip') {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    for (let sent = 0; sent < whole.length && !outgoing.destroyed; sent += 1) {
      outgoing.write(whole.subarray(sent, sent + 1))
      await setTimeout(100)
    }
    return
  }
  const { 'content-length': _, ...headers } = answer.headers
  const isCheck = incoming.url?.startsWith('/gate/check')
  const text = isCheck ? edited(JSON.parse(String(whole)), step.edit) : String(whole)
  outgoing.writeHead(answer.statusCode ?? 0, headers).end(text)
}

async function forward(target: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { method, url = '', headers } = incoming
  const { host: _, connection: __, 'transfer-encoding': ___, ...kept } = headers
  const sent = request(target + url, { agent: false, method, headers: { ...kept, 'content-length': body.length } })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  return answer
}

function edited(answer: Record<string, unknown>, edits: Record<string, unknown>): string {
  for (const [path, value] of Object.entries(edits)) {
    const names = path.split('.')
    const name = names.pop() ?? ''
    const holder = names.reduce((object, inner) => object[inner] as Record<string, unknown>, answer)
    holder[name] = value
  }
  return JSON.stringify(answer)
}
