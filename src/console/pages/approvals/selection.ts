import { useEffect, useRef, useState } from 'preact/hooks'
import { usePending } from '../../data/pending.ts'

/** What of the pending ones is selected, and what came and went by itself. */
export interface Selection {
  selected: ReadonlySet<string>
  select: (ids: readonly string[], isSelected: boolean) => void
  /** This key has decided it: nobody is told that it has gone. */
  decided: (id: string) => void
  /** What came since the list was there, and has not been looked at. */
  fresh: ReadonlySet<string>
  /** This one has been looked at. */
  seen: (id: string) => void
  /** How many of the selected ones are pending no longer: others decided them, or they expired. Until something else is selected. */
  lost: number
}

const NONE: ReadonlySet<string> = new Set()

export function useSelection(): Selection {
  const { data } = usePending()
  const known = useRef<ReadonlySet<string> | undefined>(undefined)
  const [selected, setSelected] = useState(NONE)
  const [fresh, setFresh] = useState(NONE)
  const [lost, setLost] = useState(0)
  useEffect(() => {
    if (data === undefined) return
    const now = new Set(data.items.map(({ id }) => id))
    const before = known.current ?? now
    known.current = now
    const kept = [...fresh].filter((id) => now.has(id))
    const added = [...now].filter((id) => !before.has(id))
    if (added.length > 0 || kept.length < fresh.size) setFresh(new Set([...kept, ...added]))
    const left = [...selected].filter((id) => now.has(id))
    if (left.length === selected.size) return
    setLost((count) => count + selected.size - left.length)
    setSelected(new Set(left))
  }, [data])
  return {
    selected,
    select: (ids, isSelected) => {
      setLost(0)
      setSelected((last) => (isSelected ? new Set([...last, ...ids]) : without(last, ids)))
    },
    decided: (id) => setSelected((last) => without(last, [id])),
    fresh,
    seen: (id) => setFresh((last) => (last.has(id) ? without(last, [id]) : last)),
    lost,
  }
}

function without(set: ReadonlySet<string>, ids: readonly string[]): ReadonlySet<string> {
  const left = new Set(set)
  for (const id of ids) left.delete(id)
  return left
}
