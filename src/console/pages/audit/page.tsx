import { usePlace } from '../../data/place.ts'
import { Trail } from './trail.tsx'
import { VerifyBundle } from './verify-bundle.tsx'

export function AuditPage() {
  const { path } = usePlace()
  return path[1] === 'verify-bundle' ? <VerifyBundle /> : <Trail />
}
