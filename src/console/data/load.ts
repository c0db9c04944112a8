import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { GateError } from '../../client/errors.ts'

/** Something that is fetched: what is known of it, why it could not be had, and whether it is on its way. */
export interface Loaded<T> {
  data: T | undefined
  error: GateError | undefined
  isLoading: boolean
  /** Fetches again; what was there stays until then. */
  reload(): void
  /** Puts in its place what an answer to something else brought. */
  replace(data: T): void
}

/**
 * Fetches when the component comes, and again when one of `inputs` changes. What a slower, earlier fetch brings is not taken.
 *
 * @param load its signal is aborted when nobody waits any more
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Pick<Loaded<T>, 'data' | 'error' | 'isLoading'>>(NOTHING)
  const [round, setRound] = useState(0)
  const key = JSON.stringify(inputs)
  const shownKey = useRef(key)

  useEffect(() => {
    const stop = new AbortController()
    // Of something else: it must not be taken for what was asked for.
    const isOther = shownKey.current !== key
    shownKey.current = key
    setState((last) => (isOther ? NOTHING : { ...last, isLoading: true }))
    load(stop.signal).then(
      (data) => stop.signal.aborted || setState({ data, error: undefined, isLoading: false }),
      (error) => stop.signal.aborted || setState((last) => ({ ...last, error: failure(error), isLoading: false })),
    )
    return () => stop.abort()
  }, [key, round])

  const reload = useCallback(() => setRound((last) => last + 1), [])
  const replace = useCallback((data: T) => setState({ data, error: undefined, isLoading: false }), [])
  return { ...state, reload, replace }
}

const NOTHING = { data: undefined, error: undefined, isLoading: true }

/** Whatever was thrown as a failure that can be shown. What is no failure of a call is a fault of the console, and told as such too. */
export function failure(error: unknown): GateError {
  if (error instanceof GateError) return error
  console.error(error)
  return new GateError(
    'malformed_answer',
    `The console failed: ${error instanceof Error ? error.message : String(error)}`,
  )
}
