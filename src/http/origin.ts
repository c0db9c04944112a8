import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { GateError } from '../base/errors.ts'

/**
 * Where the client reached the service, for answers that name endpoints: its name has passed `assertHost`. What ends TLS in front
 * of the service says so; who says it falsely is told a URL that does not work, and nobody else is.
 */
export function originOf({ host, 'x-forwarded-proto': scheme }: IncomingHttpHeaders): string {
  return `${scheme === 'https' ? 'https' : 'http'}://${host}`
}

/**
 * Refuses what another page than our own has a browser send. A browser names the page's origin with whatever changes something,
 * and says how page and service are related where it reaches the service by TLS or on this host (Fetch Metadata).
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
    `A session is used by the page at ${own} only. What ends TLS in front of it passes Host, and sets X-Forwarded-Proto.`,
  )
}
