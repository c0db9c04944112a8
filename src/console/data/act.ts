import { useRef, useState } from 'preact/hooks'
import type { GateError } from '../../client/errors.ts'
import { failure } from './load.ts'

export interface Act<A extends unknown[] = []> {
  isBusy: boolean
  error: GateError | undefined
  run(...input: A): Promise<void>
}

/**
 * An action that runs once, however often the button is pressed.
 *
 * @param whenUnsure called when no answer tells whether it took effect
 */
export function useAct<A extends unknown[]>(work: (...input: A) => Promise<void>, whenUnsure?: () => void): Act<A> {
  const isSending = useRef(false)
  const [state, setState] = useState<Pick<Act, 'isBusy' | 'error'>>({ isBusy: false, error: undefined })
  const run = async (...input: A): Promise<void> => {
    if (isSending.current) return
    isSending.current = true
    setState({ isBusy: true, error: undefined })
    try {
      await work(...input)
      setState({ isBusy: false, error: undefined })
    } catch (cause) {
      const error = failure(cause)
      setState({ isBusy: false, error })
      if (isUnsure(error)) whenUnsure?.()
    }
    isSending.current = false
  }
  return { ...state, run }
}

/** True without an answer: the action may have taken effect. */
export function isUnsure({ status }: GateError): boolean {
  return status === undefined
}
