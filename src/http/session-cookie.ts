import type { IncomingHttpHeaders } from 'node:http'
import { originOf } from './host.ts'

/** By what a signed-in browser is known, and how its cookie is set. */

/** Cookies are shared between ports, so that each service of a host has a name of its own. Behind TLS the browser holds it to this host. */
function nameOf(headers: IncomingHttpHeaders): string {
  const { protocol, port } = new URL(originOf(headers))
  return protocol === 'https:' ? '__Host-gate-sidecar' : `gate-sidecar-${port || '80'}`
}

/** The value of the session's cookie, if the browser sent one. */
export function sessionCookie(headers: IncomingHttpHeaders): string | undefined {
  const name = `${nameOf(headers)}=`
  const pair = headers.cookie?.split('; ').find((item) => item.startsWith(name))
  return pair?.slice(name.length)
}

/** The header that has the browser keep the cookie until it is closed; that has it forget, when `value` is empty. RFC 6265bis, 4.1. */
export function setSessionCookie(headers: IncomingHttpHeaders, value: string): Record<string, string> {
  const name = nameOf(headers)
  const end = value === '' ? '; Max-Age=0' : ''
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return { 'Set-Cookie': `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${end}` }
}
