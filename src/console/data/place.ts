import { useLayoutEffect, useState } from 'preact/hooks'

/** The base path of the console; every address below it is a place in it. */
const BASE = '/console'

/** The page and its filters. The address holds all of it, so that it can be kept and shared. */
export interface Place {
  /** Segments after the base, such as `['approvals', 'apr_…']`. */
  path: readonly string[]
  query: URLSearchParams
}

const MOVED = 'gate-sidecar-moved'

/** The address of a place. Empty query values are left out. */
export function addressOf(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== '')
  const search = set.length === 0 ? '' : `?${new URLSearchParams(set)}`
  return `${[BASE, ...path.map(encodeURIComponent)].join('/')}${path.length === 0 ? '/' : ''}${search}`
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
  const path = location.pathname.slice(BASE.length).split('/').filter(Boolean).map(segmentOf)
  return { path, query: new URLSearchParams(location.search) }
}

function segmentOf(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Invalid escapes are not ours: no place has this name.
    return text
  }
}
