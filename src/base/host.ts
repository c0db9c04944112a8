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
