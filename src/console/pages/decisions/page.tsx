import { usePlace } from '../../data/place.ts'
import { DecisionDetail } from './detail.tsx'
import { DecisionList } from './list.tsx'

export function DecisionsPage() {
  const [, id] = usePlace().path
  return id === undefined ? <DecisionList /> : <DecisionDetail id={id} key={id} />
}
