import { useLayoutEffect, useState } from 'preact/hooks'

/** The base path of the console; every address below it is a place in it. */
const BASE = '/console'
/** Marks the segment of the tenant: no name of a tenant or page begins with it. */
const TENANT_MARK = '@'

/** A tenant, a page of it, and its filters. The address holds all of it, so that it can be kept and shared. */
export interface Place {
  /** Undefined if the address names none. */
  tenantId: string | undefined
  /** Segments after the tenant, such as `['approvals', 'apr_…']`. */
  path: readonly string[]
  query: URLSearchParams
}

const MOVED = 'gate-sidecar-moved'

/**
 * The address of a place, such as `/console/@acme/approvals`. Empty query values are left out.
 *
 * @param tenantId the tenant on display by default, so that no link leads to another one
 */
export function addressOf(
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
  tenantId = currentPlace().tenantId,
): string {
  const set = Object.entries(query).filter(([, value]) => value !== '')
  const search = set.length === 0 ? '' : `?${new URLSearchParams(set)}`
  const tenant = tenantId === undefined ? [] : [TENANT_MARK + encodeURIComponent(tenantId)]
  return `${[BASE, ...tenant, ...path.map(encodeURIComponent)].join('/')}${path.length === 0 ? '/' : ''}${search}`
}

/** Shows another place. @param how `replace` adds no history entry, as for filters while they are typed */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  dispatchEvent(new Event(MOVED))
}

export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace)
  // Subscribes before anything else happens, so that no navigation is missed.
  useLayoutEffect(() => {
    const stop = new AbortController()
    for (const event of ['popstate', MOVED])
      addEventListener(event, () => setPlace(currentPlace()), { signal: stop.signal })
    return () => stop.abort()
  }, [])
  return place
}

function currentPlace(): Place {
  const segments = location.pathname.slice(BASE.length).split('/').filter(Boolean).map(segmentOf)
  const [first] = segments
  const query = new URLSearchParams(location.search)
  if (first?.startsWith(TENANT_MARK) !== true) return { tenantId: undefined, path: segments, query }
  return { tenantId: first.slice(TENANT_MARK.length), path: segments.slice(1), query }
}

function segmentOf(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Invalid escapes are not ours: no place has this name.
    return text
  }
}
