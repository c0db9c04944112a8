import { useState } from 'preact/hooks'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { addressOf } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { download } from '../../ui/download.ts'
import { Link } from '../../ui/link.tsx'
import { Failure } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'

/** The signed evidence: downloaded as a file, or verified here. */
export function EvidenceActions({ id }: { id: string }) {
  const { gate, may } = useConsole()
  const tell = useToast()
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<GateError | undefined>()
  if (!may('exportBundle')) return null
  const exportIt = async (): Promise<void> => {
    setIsBusy(true)
    setError(undefined)
    try {
      const bundle = await gate.evidence.bundle(id)
      download(`${id}.bundle.json`, 'application/json', `${JSON.stringify(bundle)}\n`)
      tell('The bundle is downloaded. It verifies without this service.')
    } catch (cause) {
      setError(failure(cause))
    }
    setIsBusy(false)
  }
  return (
    <>
      <Button disabled={isBusy} onClick={() => void exportIt()}>
        {isBusy ? 'Exporting…' : 'Download evidence'}
      </Button>
      <Link class="button" to={addressOf(['audit', 'verify-bundle'], { decision: id })}>
        Verify here
      </Link>
      {error && <Failure error={error} />}
    </>
  )
}
