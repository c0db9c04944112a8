import { GateError } from './errors.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses requests to a host name that is not ours: a web page can make a browser on this host send them here under its
 * own name (DNS rebinding).
 *
 * @throws GateError `host_not_allowed`
 */
export function assertHost(host: string | undefined, allowed: readonly string[]): void {
  const name = host?.replace(/:\d+$/, '').toLowerCase()
  if (name !== undefined && (LOOPBACK.includes(name) || allowed.includes(name))) return
  throw new GateError(
    'host_not_allowed',
    'Requests to this Host are not accepted; the setting allowedHosts names those that are.',
  )
}

/** Addresses of this machine alone, as a socket has them. */
const LOCAL_ADDRESS = /^(?:::ffff:)?127\.|^::1$/
/** Headers that a proxy sets: the peer is then on this machine, and who asks may not be. */
const FORWARDED = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/

/**
 * True for a request from this machine itself, by its connection alone: a caller writes any `Host`.
 *
 * @param address of the peer; undefined for a Unix socket
 */
export function isFromHere(address: string | undefined, headers: Readonly<Record<string, unknown>>): boolean {
  const isLocal = address === undefined || LOCAL_ADDRESS.test(address)
  return isLocal && !Object.keys(headers).some((name) => FORWARDED.test(name))
}

/** True for an address to listen on, or its name, that nobody reaches from another machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || LOCAL_ADDRESS.test(host)
}
