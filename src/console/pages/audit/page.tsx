import { usePlace } from '../../data/place.ts'
import { useKeptFocus } from '../../ui/kept-focus.ts'
import { Trail } from './trail.tsx'
import { VerifyBundle } from './verify-bundle.tsx'

export function AuditPage() {
  const { path } = usePlace()
  useKeptFocus()
  return path[1] === 'verify-bundle' ? <VerifyBundle /> : <Trail />
}
