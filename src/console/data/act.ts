import { useRef, useState } from 'preact/hooks'
import type { GateError } from '../../client/errors.ts'
import { failure } from './load.ts'

/**
 * An action that runs once, however often the button is pressed.
 *
 * @param whenUnsure called when no answer tells whether it took effect
 */
export function useAct<A extends unknown[]>(work: (...input: A) => Promise<void>, whenUnsure?: () => void) {
  const isSending = useRef(false)
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<GateError>()
  const run = async (...input: A): Promise<void> => {
    if (isSending.current) return
    isSending.current = true
    setIsBusy(true)
    setError(undefined)
    try {
      await work(...input)
    } catch (cause) {
      const found = failure(cause)
      setError(found)
      if (isUnsure(found)) whenUnsure?.()
    }
    isSending.current = false
    setIsBusy(false)
  }
  return { isBusy, error, run }
}

/** True without an answer: the action may have taken effect. */
export function isUnsure({ status }: GateError): boolean {
  return status === undefined
}
