import { useAct } from '../data/act.ts'
import { Button } from './button.tsx'
import { Failure } from './states.tsx'

/**
 * A button that reloads the page once the service answers. Earlier, the browser would replace the page with an error
 * page, red button and all.
 */
export function Reload() {
  const { run, isBusy, error } = useAct(async () => {
    const response = await fetch(location.pathname, { cache: 'no-store' })
    if (!response.ok) throw new Error(`the service answered with status ${response.status}`)
    location.reload()
  })
  return (
    <div class="stack tight">
      <div>
        <Button text="Reload the console" look="primary" aria-disabled={isBusy} onClick={() => void run()} />
      </div>
      {error && <Failure error={error} />}
    </div>
  )
}
