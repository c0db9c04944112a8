import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Connection } from '../../client/connection.ts'
import { events, type GateEvent } from '../../client/events.ts'
import { failure } from './load.ts'

type Listener = (event: GateEvent) => void

/** Events of the tenant, read by one stream for the whole page. */
export interface Live {
  /** False while the stream is down: the data shown may be old. */
  isLive: boolean
  listen(listener: Listener): () => void
}

export function useLiveEvents(connection: Connection): Live {
  const listeners = useRef(new Set<Listener>())
  const [isLive, setIsLive] = useState(true)
  const isOnline = useIsOnline()
  useEffect(() => {
    const stop = new AbortController()
    const watched: Connection = {
      ...connection,
      // A broken stream is requested again until one opens; until then, what happens is unknown.
      open: async (...request) => {
        try {
          const response = await connection.open(...request)
          setIsLive(response.ok)
          return response
        } catch (error) {
          if (!stop.signal.aborted) setIsLive(false)
          throw error
        }
      },
    }
    const follow = async (): Promise<void> => {
      for await (const event of events(watched, { signal: stop.signal }))
        for (const listener of listeners.current) listener(event)
    }
    follow().catch((error) => {
      if (stop.signal.aborted) return
      failure(error)
      setIsLive(false)
    })
    return () => stop.abort()
  }, [connection])
  const listen = useRef((listener: Listener) => {
    listeners.current.add(listener)
    return () => void listeners.current.delete(listener)
  })
  return { isLive: isLive && isOnline, listen: listen.current }
}

/** False while the browser is offline: the stream may take long to notice. */
function useIsOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine)
  useEffect(() => {
    const stop = new AbortController()
    for (const event of ['online', 'offline'])
      addEventListener(event, () => setIsOnline(navigator.onLine), { signal: stop.signal })
    return () => stop.abort()
  }, [])
  return isOnline
}

export const LiveContext = createContext<Live>({ isLive: false, listen: () => () => undefined })

/** Window in which a burst of events becomes one batch. */
const BATCH_MS = 250

/**
 * Calls `changed` with each batch of events of these kinds.
 *
 * @param kinds first segments of event types, such as `approval`
 * @param concerns filter for events; all pass without it
 */
export function useChanges(
  kinds: readonly string[],
  changed: (events: readonly GateEvent[]) => void,
  concerns: (event: GateEvent) => boolean = () => true,
): void {
  const { listen } = useContext(LiveContext)
  const latest = useRef({ changed, concerns })
  latest.current = { changed, concerns }
  const wanted = kinds.join()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let batch: GateEvent[] = []
    const stop = listen((event) => {
      const kind = event.eventType.split('.')[0] ?? ''
      if (!wanted.split(',').includes(kind) || !latest.current.concerns(event)) return
      batch.push(event)
      timer ??= setTimeout(() => {
        const events = batch
        batch = []
        timer = undefined
        latest.current.changed(events)
      }, BATCH_MS)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [listen, wanted])
}
