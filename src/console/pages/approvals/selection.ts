import { useEffect, useRef, useState } from 'preact/hooks'
import { usePending } from '../../data/pending.ts'

/** Selected pending approvals, and those that came and went by themselves. */
export interface Selection {
  selected: ReadonlySet<string>
  select: (ids: readonly string[], isSelected: boolean) => void
  /** Deselects an approval that this key has decided, without counting it as lost. */
  decided: (id: string) => void
  /** Unseen approvals that arrived after the list. */
  fresh: ReadonlySet<string>
  /** Marks an approval as seen. */
  seen: (id: string) => void
  /** Count of selected approvals that were decided by others or expired, until the next selection. */
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
