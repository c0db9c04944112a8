import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Files besides connections that the service opens: 30 when idle, ten for each of three threads of the store, and thirty
 * for each of two threads for policies while they start.
 */
const OTHER_FILES = 128
const FEWEST = 16
/** Each connection takes some 20 kB. */
const MOST = 10_000

/** Connections that the limit of open files leaves room for. */
export function connectionsWithin(openFiles: number): number {
  return Math.max(FEWEST, Math.min(MOST, openFiles - OTHER_FILES))
}

/** The limit of open files of this process; infinite where there is none. */
export function openFilesLimit(): number {
  const report: unknown = process.report.getReport()
  const { userLimits } = report as { userLimits?: { open_files?: { soft?: unknown } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/**
 * Keeps room for new connections, since the next one may bring a stop: beyond the limit the one that was idle longest is
 * closed, or if all have requests under way, that whose request has lasted longest, which waits or reads a stream.
 */
export function limitConnections(server: Server, limit: number): void {
  // In the order in which they became idle or busy.
  const idle = new Set<Socket>()
  const busy = new Map<Socket, number>()
  const end = (socket: Socket): void => {
    idle.delete(socket)
    busy.delete(socket)
  }
  // One for all answers, which are many.
  function answered(this: ServerResponse): void {
    const { socket } = this.req
    const left = (busy.get(socket) ?? 0) - 1
    if (left > 0) return void busy.set(socket, left)
    // A socket that was closed meanwhile is none any more.
    if (busy.delete(socket)) idle.add(socket)
  }
  server.on('connection', (socket: Socket) => {
    idle.add(socket)
    socket.once('close', () => end(socket))
    if (idle.size + busy.size <= limit) return
    const [oldest] = idle.size > 1 ? idle : busy.keys()
    if (oldest === undefined) return
    end(oldest)
    oldest.destroy()
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    busy.set(socket, (busy.get(socket) ?? 0) + 1)
    response.on('close', answered)
  })
}
