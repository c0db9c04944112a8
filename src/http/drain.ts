import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10
/** Looks after which requests are held back no longer while the server stops to listen. */
const MOST_LOOKS = 100
/** Looks in a row without a new connection after which nobody is expected. Not a time: a busy machine may run nobody. */
const QUIET_LOOKS = 25

interface Connection {
  /** Answers under way. A list of all connections would keep each answer for V8 until its next full collection. */
  answers: ServerResponse[]
  /** When the last request ended, or the connection began. */
  sinceMs: number
  /** Bytes that had come by then. */
  bytesRead: number
  /** The client was told that this was the last answer. */
  isLast: boolean
}

export type Drain = ReturnType<typeof drain>

/**
 * Ends a server without cutting off a request. Closing a connection while the other side sends loses that request; so
 * each request is answered until its client has read `Connection: close`, and it is the client that closes.
 */
export function drain(listener: RequestListener) {
  const { connections, ending, admit, watch } = connectionBook(listener)
  let held: Promise<void> | undefined
  let expected = 0
  return {
    watch,
    listener: (request: IncomingMessage, response: ServerResponse): void => {
      if (held === undefined) admit(request, response)
      else void held.then(() => admit(request, response))
    },
    /**
     * From now on every answer is the last of its connection.
     *
     * @param lingerMs time that a client has to close, and for which a connection without a request stays open
     */
    begin(lingerMs: number): void {
      ending.lingerMs = lingerMs
      expected = connections.size
      for (const [socket, { answers }] of connections) {
        for (const response of answers) sayLast(response)
        letClientClose(socket, lingerMs)
      }
    },
    /**
     * Has requests wait until as many clients are connected as there were, or no more come, and calls `then` while they
     * wait. The system resets connections that are not taken yet when a server stops to listen; nobody opens one now.
     */
    async pause(then: () => void): Promise<void> {
      let release = (): void => undefined
      held = new Promise((resolve) => {
        release = resolve
      })
      let seen = new Set(connections.keys())
      for (let looks = 0, quiet = 0; looks < MOST_LOOKS && quiet < QUIET_LOOKS; looks += 1) {
        await sleep(POLL_MS)
        const open = new Set([...connections.keys()].filter((socket) => !socket.writableEnded))
        quiet = [...open].every((socket) => seen.has(socket)) ? quiet + 1 : 0
        seen = open
        if ([...connections.values()].some(({ answers }) => answers.length > 0)) quiet = 0
        else if (open.size >= expected) break
      }
      then()
      held = undefined
      release()
    },
    /** Waits until all connections are closed; after `limitMs` they are cut. */
    async end(server: Server, limitMs: number): Promise<void> {
      const endMs = performance.now() + limitMs
      // Twice, as the first look after a halt of this process comes before what was sent meanwhile is read.
      let idleBefore = new Set<Socket>()
      while (connections.size > 0 && performance.now() < endMs) {
        const idle = [...connections].filter((entry) => isIdle(entry, ending.lingerMs ?? 0)).map(([socket]) => socket)
        for (const socket of idle) if (idleBefore.has(socket)) socket.destroy()
        idleBefore = new Set(idle)
        await sleep(POLL_MS)
      }
      server.closeAllConnections()
      // Ends the timers of the server, which listens no more.
      server.close()
    },
  }
}

/** Keeps the connections of a server, each with its answers. */
function connectionBook(listener: RequestListener) {
  const connections = new Map<Socket, Connection>()
  const ending: { lingerMs: number | undefined } = { lingerMs: undefined }
  // One for all answers: a check is not to pay for the end of the service.
  function answered(this: ServerResponse): void {
    const { socket } = this.req
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.answers.splice(connection.answers.indexOf(this), 1)
    connection.sinceMs = performance.now()
    connection.bytesRead = socket.bytesRead
    connection.isLast = !this.shouldKeepAlive
  }
  return {
    connections,
    ending,
    admit(request: IncomingMessage, response: ServerResponse): void {
      const connection = connections.get(request.socket)
      // Data after the last answer has no effect (RFC 9112, 9.6).
      if (connection === undefined || connection.isLast) return void request.resume()
      connection.answers.push(response)
      response.on('close', answered)
      if (ending.lingerMs !== undefined) sayLast(response)
      listener(request, response)
    },
    watch(server: Server): void {
      server.on('connection', (socket) => {
        connections.set(socket, {
          answers: [],
          sinceMs: performance.now(),
          bytesRead: socket.bytesRead,
          isLast: false,
        })
        socket.once('close', () => connections.delete(socket))
        if (ending.lingerMs !== undefined) letClientClose(socket, ending.lingerMs)
      })
    },
  }
}

function isIdle([socket, { answers, sinceMs, bytesRead }]: [Socket, Connection], forMs: number): boolean {
  const isQuiet = answers.length === 0 && socket.bytesRead === bytesRead
  return isQuiet && !socket.writableEnded && performance.now() - sinceMs >= forMs
}

/** Has the answer end its connection, unless its headers have left. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false
}

/** After the last answer, ends our side alone: a socket that is closed with bytes unread resets what was sent. */
function letClientClose(socket: Socket, limitMs: number): void {
  if (limitMs === 0) return
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), limitMs)
    socket.once('close', () => clearTimeout(timer))
  }
}

/** Stops to listen. The close of http would also close connections whose clients may be sending. */
export function stopListening(server: Server): void {
  NetServer.prototype.close.call(server)
}
