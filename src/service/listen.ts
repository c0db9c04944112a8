import { rmSync, statSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { isLoopback } from '../base/host.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'

/** Starts to listen at the configured address. @throws the system's error: EADDRINUSE, EACCES… */
export async function listen(server: Server, { host, port, socket }: Config): Promise<string> {
  if (socket === null) {
    await bind(server, () => server.listen(port, host))
    return urlOf(server.address() as AddressInfo)
  }
  if (await isLeftBehind(socket)) rmSync(socket, { force: true })
  await bind(server, () => server.listen(socket))
  return `unix:${socket}`
}

/** Tells of an address that others reach: what goes there can be read on the way, and by which names they may ask. */
export function warnOfNetwork({ host, socket, allowedHosts }: Config, log: Logger): void {
  if (socket !== null || isLoopback(host)) return
  log.warn(
    { host },
    'listens beyond this machine without TLS: keys can be read in transit; put a TLS proxy in front of it',
  )
  if (allowedHosts.length === 0)
    log.warn({ host }, 'no name of this service is set: set allowedHosts to the names that clients use')
}

function bind(server: Server, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', resolve)
    start()
  })
}

/** True for the socket of a killed process. One that answers, or a file of another kind, must not be removed. */
function isLeftBehind(path: string): Promise<boolean> {
  if (!statSync(path, { throwIfNoEntry: false })?.isSocket()) return Promise.resolve(false)
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
