import { useRef } from 'preact/hooks'
import { usePlace } from '../../data/place.ts'
import { DecisionDetail } from './detail.tsx'
import { DecisionList, type Left } from './list.tsx'

export function DecisionsPage() {
  const [, id] = usePlace().path
  // The list as it was left for one of its decisions, to which one comes back.
  const left = useRef<Left | undefined>(undefined)
  return id === undefined ? (
    <DecisionList left={left} />
  ) : (
    <DecisionDetail id={id} key={id} list={left.current?.address} />
  )
}
