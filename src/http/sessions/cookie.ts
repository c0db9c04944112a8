import type { IncomingHttpHeaders } from 'node:http'
import { originOf } from '../origin.ts'

/** Name with the port, since ports share cookies. Behind TLS the browser binds the cookie to this host. */
function nameOf(headers: IncomingHttpHeaders): string {
  const { protocol, port } = new URL(originOf(headers))
  return protocol === 'https:' ? `__Host-gate-sidecar-${port || '443'}` : `gate-sidecar-${port || '80'}`
}

/** Limit of the cookies of one name that are read. */
const MAX_COOKIES = 20

/**
 * Values of the session's cookie that the browser sent. A server on another port can set one of the same name for a
 * longer path, which then comes first.
 */
export function sessionCookies(headers: IncomingHttpHeaders): string[] {
  const name = `${nameOf(headers)}=`
  const pairs = headers.cookie?.split('; ').filter((item) => item.startsWith(name)) ?? []
  return pairs.slice(0, MAX_COOKIES).map((pair) => pair.slice(name.length))
}

/** Header that sets the browser's cookie until it is closed, or deletes it when `value` is empty. RFC 6265bis, 4.1. */
export function setSessionCookie(headers: IncomingHttpHeaders, value: string): Record<string, string> {
  const name = nameOf(headers)
  const end = value === '' ? '; Max-Age=0' : ''
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return { 'Set-Cookie': `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${end}` }
}
