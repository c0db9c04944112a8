import type { Checkpoint } from '../audit/checkpoint.ts'
import type { TreeHead } from '../audit/merkle.ts'
import { encodeBase64, equalBytes } from '../base/bytes.ts'
import { grouped } from '../base/grouped.ts'
import type { Anchor } from './anchor.ts'
import { type CheckpointNote, parseCheckpointNote } from './note.ts'

/** The claim of an anchor about a log. */
interface Said extends CheckpointNote {
  at: string
}

/** True for a checkpoint that a trusted log key signed; only those count. Called rarely, since it is slow. */
type IsGenuine = (checkpoint: CheckpointNote) => boolean

/** Anchors of one chain. */
export function witnessed(anchors: readonly Anchor[], origin: string, chain: string) {
  const claims = anchors.flatMap(({ at, checkpoint }): Said[] => {
    const note = parseCheckpointNote(checkpoint)
    return note?.origin === origin && note.chain === chain ? [{ ...note, at }] : []
  })
  const bySize = grouped(claims, ({ size }) => size)
  return {
    /** The sizes of the anchored trees. */
    sizes: new Set(bySize.keys()),
    /** The earliest time at which an anchor held this very checkpoint. */
    earliest(checkpoint: Checkpoint, isGenuine: IsGenuine): string | undefined {
      if (checkpoint.origin !== origin || checkpoint.chain !== chain) return undefined
      const same = bySize.get(checkpoint.size)?.filter(({ root }) => equalBytes(root, checkpoint.root)) ?? []
      const inOrder = same.toSorted((a, b) => (a.at < b.at ? -1 : 1))
      return inOrder.find(isGenuine)?.at
    },
    /** The fault of a split view: two different trees of one size, among anchors and evidence. */
    splitFault(shown: readonly TreeHead[], isGenuine: IsGenuine): string | undefined {
      const shownBySize = grouped(shown, ({ size }) => size)
      for (const [size, said] of bySize) {
        const byRoot = grouped(said, rootOf)
        const roots = new Set(shownBySize.get(size)?.map(rootOf))
        if (new Set([...roots, ...byRoot.keys()]).size < 2) continue
        for (const [root, same] of byRoot) if (same.some(isGenuine)) roots.add(root)
        if (roots.size > 1) return `The log has two trees of ${size} entries: an anchor has another than this one.`
      }
      return undefined
    },
  }
}

function rootOf({ root }: TreeHead): string {
  return encodeBase64(root)
}
