import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Connection } from '../../client/connection.ts'
import { events, type GateEvent } from '../../client/events.ts'
import { ageOf, type Moment, momentNow, useNow } from './clock.ts'
import { failure } from './load.ts'

type Listener = (event: GateEvent) => void

/** Events of the tenant, read by one stream for the whole page. */
export interface Live {
  /** False while the service is not heard: the data shown may be old. */
  isLive: boolean
  /** The last sign of life of the service; undefined before the first one. */
  heardAt(): Moment | undefined
  listen(listener: Listener): () => void
  /** Reopens the stream without waiting for its next attempt. */
  reconnect(): void
}

/** Age from which nothing counts as known: two heartbeats of the service. */
export const SILENT_MS = 30_000
/** Interval between looks at the age. */
const LOOK_MS = 1000

export function useLiveEvents(connection: Connection): Live {
  const listeners = useRef(new Set<Listener>())
  const heard = useRef<Moment | undefined>(undefined)
  const [isLive, setIsLive] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const reconnect = useCallback(() => setAttempt((last) => last + 1), [])
  const isOnline = useIsOnline()
  useEffect(() => {
    if (!isOnline) return setIsLive(false)
    const stop = new AbortController()
    let signOfLife = momentNow()
    const hear = (): void => {
      signOfLife = momentNow()
      heard.current = signOfLife
      setIsLive(true)
    }
    const look = (): void => {
      if (ageOf(signOfLife) < SILENT_MS) return
      setIsLive(false)
      reconnect()
    }
    const lose = (): void => {
      if (!stop.signal.aborted) setIsLive(false)
    }
    follow(heardThrough(connection, { hear, lose }), listeners.current, stop.signal).catch((error) => {
      if (!stop.signal.aborted) failure(error)
      lose()
    })
    const timer = setInterval(look, LOOK_MS)
    document.addEventListener('visibilitychange', look, { signal: stop.signal })
    return () => {
      clearInterval(timer)
      stop.abort()
    }
  }, [connection, isOnline, attempt])
  const heardAt = useCallback(() => heard.current, [])
  const listen = useCallback((listener: Listener) => {
    listeners.current.add(listener)
    return () => void listeners.current.delete(listener)
  }, [])
  return { isLive, heardAt, listen, reconnect }
}

async function follow(connection: Connection, listeners: ReadonlySet<Listener>, signal: AbortSignal): Promise<void> {
  for await (const event of events(connection, { signal })) for (const listener of listeners) listener(event)
}

interface Ear {
  /** Called for each part of a stream, heartbeats too. */
  hear(): void
  /** Called when no stream opens: until one does, what happens is unknown. */
  lose(): void
}

function heardThrough(connection: Connection, { hear, lose }: Ear): Connection {
  const passing = () =>
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(part, out) {
        hear()
        out.enqueue(part)
      },
    })
  return {
    ...connection,
    async open(...request) {
      try {
        const response = await connection.open(...request)
        if (response.ok && response.body !== null) return new Response(response.body.pipeThrough(passing()), response)
        lose()
        return response
      } catch (error) {
        lose()
        throw error
      }
    },
  }
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

const UNHEARD: Live = {
  isLive: false,
  heardAt: () => undefined,
  listen: () => () => undefined,
  reconnect: () => undefined,
}

export const LiveContext = createContext<Live>(UNHEARD)

/** Milliseconds since the last sign of life, updated each second; undefined before the first one. */
export function useHeardAgo(): number | undefined {
  const { heardAt } = useContext(LiveContext)
  useNow()
  const at = heardAt()
  return at && ageOf(at)
}

/** Window in which a burst of events becomes one batch. */
const BATCH_MS = 250

/**
 * Calls `changed` with each batch of events of these kinds, and with none when the service is heard again: events may
 * have been missed.
 *
 * @param kinds first segments of event types, such as `approval`
 * @param concerns filter for events; all pass without it
 */
export function useChanges(
  kinds: readonly string[],
  changed: (events: readonly GateEvent[]) => void,
  concerns: (event: GateEvent) => boolean = () => true,
): void {
  const { isLive, listen } = useContext(LiveContext)
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
  const wasLive = useRef(isLive)
  useEffect(() => {
    if (isLive && !wasLive.current) latest.current.changed([])
    wasLive.current = isLive
  }, [isLive])
}
