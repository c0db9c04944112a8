import { APPROVAL_EVENTS } from '../../audit/events.ts'
import { partitionPoint } from '../../base/partition-point.ts'
import { changeIn } from '../../store/records.ts'
import type { Deps } from '../deps.ts'
import { isOpen } from './open-approvals.ts'

/** The seqs of an approval's first and last entry; the last is infinite while it is open. */
export interface ApprovalSpan {
  id: string
  first: number
  last: number
}

/** Spans of the approvals with an entry in first <= seq < end. An erased entry no longer leads to an approval. */
export async function approvalSpans(
  { store, clock }: Deps,
  { chain, first, end }: { chain: string; first: number; end: number },
): Promise<ApprovalSpan[]> {
  const spans = new Map<string, ApprovalSpan>()
  for (const seq of await store.seqsOfTypes(chain, APPROVAL_EVENTS, { first, end })) {
    const entry = await store.entryAt(chain, seq)
    const id = entry && changeIn(entry)?.id
    if (id === undefined || spans.has(id)) continue
    const approval = await store.approval(id)
    if (approval === undefined) continue
    const last = isOpen(store, approval, clock())
      ? Number.POSITIVE_INFINITY
      : (await store.changesOf('approval', id)).at(-1)?.header.seq
    spans.set(id, { id, first: seq, last: last ?? seq })
  }
  return [...spans.values()]
}

/** Returns a function that moves a cut before `size` back until it splits no approval. */
export function cutFinder(spans: readonly ApprovalSpan[]): (size: number) => number {
  // Overlapping spans become one.
  const runs: { first: number; last: number }[] = []
  for (const { first, last } of [...spans].sort((a, b) => a.first - b.first)) {
    const run = runs.at(-1)
    if (run !== undefined && first <= run.last) run.last = Math.max(run.last, last)
    else runs.push({ first, last })
  }
  return (size) => {
    const run = runs[partitionPoint(runs.length, (i) => (runs[i]?.last ?? size) < size)]
    return run === undefined ? size : Math.min(size, run.first)
  }
}
