import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Cleanup } from '../helpers.ts'

export interface Proxy {
  /** The address by which the target is reached through it. */
  address(target: URL): Promise<URL>
  /** Ends every connection, and takes no new one. */
  cut(): void
  /** Passes nothing on, and tells nobody. */
  stall(): void
  mend(): void
}

/** A network between sidecars and their server that tests can cut. */
export function proxy(t: Cleanup): Proxy {
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'stalled' = 'open'
  let target = { host: '', port: 0 }
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    if (state === 'stalled') socket.pause()
  }
  const server = createServer((inbound) => {
    if (state === 'cut') return void inbound.destroy()
    const outbound = connect(target.port, target.host)
    for (const [one, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      one.on('data', (part) => {
        if (state === 'open') other.write(part)
      })
      one.on('close', () => other.destroy())
      keep(one)
    }
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    async address(to) {
      target = { host: to.hostname, port: Number(to.port) }
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const through = new URL(to.href)
      through.port = String((server.address() as AddressInfo).port)
      return through
    },
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    stall() {
      state = 'stalled'
    },
    mend() {
      // What was swallowed is lost, as by a firewall that forgot the connection.
      if (state === 'stalled') for (const socket of sockets) socket.destroy()
      state = 'open'
    },
  }
}
