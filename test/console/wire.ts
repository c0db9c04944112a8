import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Cleanup, Gate } from '../helpers.ts'

/** A wire between a browser and a service. */
export interface Wire {
  /** The service, as it is reached through the wire. */
  gate: Gate
  /** Lets nothing through any more, in either direction, and says so to nobody. */
  stall(): void
  /** Lets everything through again, on the same connections. */
  resume(): void
}

export async function startWire(t: Cleanup, gate: Gate): Promise<Wire> {
  const sockets = new Set<Socket>()
  let isStalled = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    if (isStalled) socket.pause()
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    const far = connect(Number(new URL(gate.server.url).port), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (data) => to.write(data))
      from.on('close', () => to.destroy())
      keep(from)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const turn = (stalled: boolean): void => {
    isStalled = stalled
    for (const socket of sockets) {
      if (stalled) socket.pause()
      else socket.resume()
    }
  }
  return {
    gate: { ...gate, server: { ...gate.server, url: `http://127.0.0.1:${port}` } },
    stall: () => turn(true),
    resume: () => turn(false),
  }
}
