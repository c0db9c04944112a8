import type { Checkpoint } from '../audit/checkpoint.ts'
import { encodeBase64 } from '../base/bytes.ts'
import type { Anchor } from './anchor.ts'
import { type CheckpointNote, parseCheckpointNote } from './note.ts'

/** The claim of an anchor about a log. */
interface Said extends CheckpointNote {
  at: string
}

/** Anchors of one chain. */
export interface Witnessed {
  /** The sizes of the anchored trees. */
  sizes: ReadonlySet<number>
  /** The earliest time at which an anchor held this very checkpoint. */
  earliest(checkpoint: Checkpoint, isGenuine: IsGenuine): string | undefined
  /** The fault of a split view: two different trees of one size, among anchors and evidence. */
  splitFault(shown: readonly Tree[], isGenuine: IsGenuine): string | undefined
}

/** True for a checkpoint that a trusted log key signed; only those count. Called rarely, since it is slow. */
type IsGenuine = (checkpoint: CheckpointNote) => boolean
type Tree = Pick<Checkpoint, 'size' | 'root'>

export function witnessed(anchors: readonly Anchor[], origin: string, chain: string): Witnessed {
  /** Claims by size and root of the tree. */
  const bySize = new Map<number, Map<string, Said[]>>()
  for (const { at, checkpoint } of anchors) {
    const note = parseCheckpointNote(checkpoint)
    if (note === undefined || note.origin !== origin || note.chain !== chain) continue
    const byRoot = bySize.get(note.size) ?? new Map<string, Said[]>()
    bySize.set(note.size, byRoot)
    const root = encodeBase64(note.root)
    const said = byRoot.get(root) ?? []
    byRoot.set(root, said)
    said.push({ ...note, at })
  }
  return {
    sizes: new Set(bySize.keys()),
    earliest(checkpoint, isGenuine) {
      if (checkpoint.origin !== origin || checkpoint.chain !== chain) return undefined
      const same = bySize.get(checkpoint.size)?.get(encodeBase64(checkpoint.root)) ?? []
      const inOrder = same.toSorted((a, b) => (a.at < b.at ? -1 : 1))
      return inOrder.find(isGenuine)?.at
    },
    splitFault(shown, isGenuine) {
      const shownRoots = rootsBySize(shown)
      for (const [size, byRoot] of bySize) {
        const roots = new Set(shownRoots.get(size))
        if (new Set([...roots, ...byRoot.keys()]).size < 2) continue
        for (const [root, said] of byRoot) if (said.some(isGenuine)) roots.add(root)
        if (roots.size > 1) return `The log has two trees of ${size} entries: an anchor has another than this one.`
      }
      return undefined
    },
  }
}

function rootsBySize(trees: readonly Tree[]): Map<number, Set<string>> {
  const roots = new Map<number, Set<string>>()
  for (const { size, root } of trees) roots.set(size, new Set(roots.get(size)).add(encodeBase64(root)))
  return roots
}
