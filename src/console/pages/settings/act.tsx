import { useRef, useState } from 'preact/hooks'
import type { GateError } from '../../../client/errors.ts'
import { failure } from '../../data/load.ts'
import { Failure } from '../../ui/states.tsx'

export interface Act {
  isBusy: boolean
  error: GateError | undefined
  run: () => Promise<void>
}

/** An action that runs once, however often the button is pressed. @param whenUnsure called when no answer tells whether it took effect */
export function useAct(work: () => Promise<void>, whenUnsure: () => void = () => undefined): Act {
  const isSending = useRef(false)
  const [state, setState] = useState<Pick<Act, 'isBusy' | 'error'>>({ isBusy: false, error: undefined })
  const run = async (): Promise<void> => {
    if (isSending.current) return
    isSending.current = true
    setState({ isBusy: true, error: undefined })
    try {
      await work()
      setState({ isBusy: false, error: undefined })
    } catch (cause) {
      const error = failure(cause)
      setState({ isBusy: false, error })
      if (isUnsure(error)) whenUnsure()
    }
    isSending.current = false
  }
  return { ...state, run }
}

/** The reason for a missing secret; without an answer, also a warning that the key may exist. */
export function NoSecret({ error }: { error: GateError }) {
  return (
    <>
      <Failure error={error} />
      {isUnsure(error) && (
        <p class="notice">
          <strong>The key may have been made all the same.</strong> Then it is in the list, and nobody has its secret:
          look there before you try again, and revoke what you did not get.
        </p>
      )}
    </>
  )
}

function isUnsure({ status }: GateError): boolean {
  return status === undefined
}
