import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { GateError } from '../../client/errors.ts'

/** Fetched data: its value, the error of the last fetch, and whether one is under way. */
export interface Loaded<T> {
  data: T | undefined
  error: GateError | undefined
  isLoading: boolean
  /** Fetches again; the old data stays until then. A fetch under way is aborted. */
  reload(): void
  /** Fetches again, unless a fetch is under way: on a busy machine each would abort the one before. */
  poll(): void
  /** Replaces the data with that of another response. */
  replace(data: T): void
}

/**
 * Fetches on mount, and again when one of `inputs` changes. Results of earlier, slower fetches are ignored.
 *
 * @param load receives a signal that aborts when the result is no longer needed
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Pick<Loaded<T>, 'data' | 'error' | 'isLoading'>>(NOTHING)
  const [round, setRound] = useState(0)
  const key = JSON.stringify(inputs)
  const shownKey = useRef(key)

  useEffect(() => {
    const stop = new AbortController()
    // Data of other inputs must not pass for the requested data.
    const isOther = shownKey.current !== key
    shownKey.current = key
    setState((last) => (isOther ? NOTHING : { ...last, isLoading: true }))
    load(stop.signal).then(
      (data) => stop.signal.aborted || setState({ data, error: undefined, isLoading: false }),
      (error) => stop.signal.aborted || setState((last) => ({ ...last, error: failure(error), isLoading: false })),
    )
    return () => stop.abort()
  }, [key, round])

  const isLoading = useRef(state.isLoading)
  isLoading.current = state.isLoading
  const reload = useCallback(() => setRound((last) => last + 1), [])
  const poll = useCallback(() => isLoading.current || reload(), [])
  const replace = useCallback((data: T) => setState({ data, error: undefined, isLoading: false }), [])
  return { ...state, reload, poll, replace }
}

const NOTHING = { data: undefined, error: undefined, isLoading: true }

/** Converts any thrown value to an error for display. Other errors than a GateError are faults of the console, and logged. */
export function failure(error: unknown): GateError {
  if (error instanceof GateError) return error
  console.error(error)
  return new GateError(
    'malformed_answer',
    `The console failed: ${error instanceof Error ? error.message : String(error)}`,
  )
}
