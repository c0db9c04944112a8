import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Key } from './processes.ts'

/** What became of the requests of clients that keep their connections. */
export interface Asked {
  /** Statuses, with whether the answer was the last of its connection. */
  answers: { status: number; isLast: boolean }[]
  /** Requests that ended without an answer, on a connection that had been answered before, or a new one. */
  lost: { on: 'kept' | 'new'; why: string }[]
  /** Clients that found nobody who listens. */
  refused: number
}

/**
 * Checks over so many connections, each one after another, until nobody listens. A client that reads `Connection: close`
 * closes, and asks again on a new connection.
 *
 * @param thinkMs pause of a client before its next request
 */
export function keepAsking(url: string, { key, tenantId }: Key, clients: number, thinkMs: () => number = () => 0) {
  const { port } = new URL(url)
  const body = JSON.stringify({ tenantId, action: 'email.send' })
  const request = [
    'POST /gate/check HTTP/1.1',
    'Host: localhost',
    `x-api-key: ${key}`,
    `x-tenant-id: ${tenantId}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
  const asked: Asked = { answers: [], lost: [], refused: 0 }
  const ask = async (): Promise<void> => {
    for (;;) {
      const socket = await connected(Number(port))
      if (socket === undefined) {
        asked.refused += 1
        return
      }
      await askOn(socket, request, asked, thinkMs)
    }
  }
  return { asked, done: Promise.all(Array.from({ length: clients }, ask)) }
}

/** Undefined when nobody listens. Any other failure is one of the first request. */
function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const settle = (error?: NodeJS.ErrnoException): void => {
      socket.off('connect', settle).off('error', settle)
      // An error that comes between two requests shows at the next one.
      socket.on('error', () => undefined)
      resolve(error?.code === 'ECONNREFUSED' ? undefined : socket)
    }
    socket.once('connect', () => settle())
    socket.once('error', settle)
  })
}

/** Asks until the connection ends. */
async function askOn(socket: Socket, request: string, asked: Asked, thinkMs: () => number): Promise<void> {
  for (let isKept = false; ; isKept = true) {
    const answer = await answerTo(socket, request)
    if (typeof answer === 'string') {
      asked.lost.push({ on: isKept ? 'kept' : 'new', why: answer })
      return void socket.destroy()
    }
    asked.answers.push(answer)
    if (answer.isLast) return void socket.destroy()
    await sleep(thinkMs())
  }
}

function answerTo(socket: Socket, request: string): Promise<Asked['answers'][number] | string> {
  return new Promise((resolve) => {
    let text = ''
    const settle = (answer: Asked['answers'][number] | string): void => {
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError)
      resolve(answer)
    }
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1])
      if (head < 0 || text.length < head + 4 + length) return
      settle({ status: Number(text.slice(9, 12)), isLast: /\r\nconnection: *close/i.test(text.slice(0, head)) })
    }
    const onEnd = (): void => settle('the connection ended')
    const onError = (error: NodeJS.ErrnoException): void => settle(String(error.code))
    socket.on('data', onData).once('end', onEnd).once('close', onEnd).once('error', onError)
    if (socket.destroyed || socket.readableEnded) return settle('the connection had ended')
    socket.write(request)
  })
}
