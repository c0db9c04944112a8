import { useRef } from 'preact/hooks'
import { usePlace } from '../../data/place.ts'
import { DecisionDetail } from './detail.tsx'
import { DecisionList, type Left } from './list.tsx'

export function DecisionsPage() {
  const [, id] = usePlace().path
  // The list as the user left it for one of its decisions, restored on return.
  const left = useRef<Left | undefined>(undefined)
  return id === undefined ? (
    <DecisionList left={left} />
  ) : (
    <DecisionDetail id={id} key={id} list={left.current?.address} />
  )
}
