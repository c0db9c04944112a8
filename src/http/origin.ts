import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { GateError } from '../base/errors.ts'

/**
 * Origin by which the client reached the service; `assertHost` has checked the name.
 * The TLS proxy sets the scheme. A caller that forges it gets a URL that does not work, and affects nobody else.
 */
export function originOf({ host, 'x-forwarded-proto': scheme }: IncomingHttpHeaders): string {
  return `${scheme === 'https' ? 'https' : 'http'}://${host}`
}

/**
 * Refuses requests that another page has a browser send. A browser sends the page's origin with requests that change
 * something. It also sends the relation of page and service where it uses TLS or this host (Fetch Metadata).
 *
 * @throws GateError `origin_not_allowed`
 */
export function assertSameOrigin({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>): void {
  const { origin, 'sec-fetch-site': site } = headers
  const own = originOf(headers)
  const isRead = method === 'GET' || method === 'HEAD'
  if ((origin === own || (origin === undefined && isRead)) && (site === undefined || site === 'same-origin')) return
  throw new GateError(
    'origin_not_allowed',
    `A session works only from the page at ${own}. A TLS proxy in front of it must pass Host and set X-Forwarded-Proto.`,
  )
}
