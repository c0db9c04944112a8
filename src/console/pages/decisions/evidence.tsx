import { useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
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
  const { isBusy, error, run } = useAct(async () => {
    const bundle = await gate.evidence.bundle(id)
    download(`${id}.bundle.json`, 'application/json', `${JSON.stringify(bundle)}\n`)
    tell('Bundle downloaded. It verifies without this service.')
  })
  if (!may('exportBundle')) return null
  return (
    <>
      <Button disabled={isBusy} onClick={() => void run()}>
        {isBusy ? 'Exporting…' : 'Download evidence'}
      </Button>
      <Link class="button" to={addressOf(['audit', 'verify-bundle'], { decision: id })}>
        Verify here
      </Link>
      {error && <Failure error={error} />}
    </>
  )
}
