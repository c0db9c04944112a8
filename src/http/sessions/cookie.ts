import type { IncomingHttpHeaders } from 'node:http'
import { originOf } from '../origin.ts'

/** By what a signed-in browser is known, and how its cookie is set. */

/** Cookies are shared between ports, so that each service of a host has a name of its own. Behind TLS the browser holds it to this host. */
function nameOf(headers: IncomingHttpHeaders): string {
  const { protocol, port } = new URL(originOf(headers))
  return protocol === 'https:' ? `__Host-gate-sidecar-${port || '443'}` : `gate-sidecar-${port || '80'}`
}

/** So many cookies of one name are looked at. */
const MOST = 20

/**
 * What the browser sent as the session's cookie: whatever serves another port can set one of the same name for a longer path, which then
 * comes first.
 */
export function sessionCookies(headers: IncomingHttpHeaders): string[] {
  const name = `${nameOf(headers)}=`
  const pairs = headers.cookie?.split('; ').filter((item) => item.startsWith(name)) ?? []
  return pairs.slice(0, MOST).map((pair) => pair.slice(name.length))
}

/** The header that has the browser keep the cookie until it is closed; that has it forget, when `value` is empty. RFC 6265bis, 4.1. */
export function setSessionCookie(headers: IncomingHttpHeaders, value: string): Record<string, string> {
  const name = nameOf(headers)
  const end = value === '' ? '; Max-Age=0' : ''
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return { 'Set-Cookie': `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${end}` }
}
