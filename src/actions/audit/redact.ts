import type { Actor } from '../../audit/draft.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { isOfApproval } from '../../audit/events.ts'
import { isErasable, joinedTargets, type RedactionTarget } from '../../audit/redaction.ts'
import { GateError } from '../../base/errors.ts'
import { oldestOf } from '../../store/bounds.ts'
import { changeIn } from '../../store/records.ts'
import { isOpen } from '../approvals/open-approvals.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'

/** Entries of one commit, for which other writes wait. */
const BATCH = 500
const BATCH_BYTES = 4 * 1024 * 1024

/** The selected entries; their erasable content is erased. */
export interface Redaction {
  chain: string
  /** first <= seq < end */
  first: number
  end: number
  reason: string
}

export interface Redacted {
  entries: number
  sections: number
  approvals: number
  /** Entries that stay, since their approval is still open. */
  kept: number
}

/**
 * Erases what was sent to the service: requests, callers' own entries, and settled approvals. Keeps decisions, risk,
 * grounds, and what state follows from. Each commit records its erasures.
 *
 * @param onProgress called with the number of entries looked at
 */
export async function redact(
  deps: Deps,
  actor: Actor,
  { chain, first, end, reason }: Redaction,
  onProgress: (done: number) => void = () => undefined,
): Promise<Redacted> {
  const sum: Redacted = { entries: 0, sections: 0, approvals: 0, kept: 0 }
  const oldest = await oldestOf(deps.store, chain)
  for (let seq = Math.max(first, oldest); seq < end; ) {
    const batch = await deps.store.entriesFrom(chain, seq, Math.min(BATCH, end - seq), BATCH_BYTES)
    const last = batch.at(-1)
    if (last === undefined) throw new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq} is missing.`)
    const found = await erasableIn(deps, batch)
    if (found.targets.length > 0) await erase(deps, actor, { chain, reason, ...found })
    sum.entries += new Set(found.targets.map((target) => target.first)).size
    sum.sections += found.targets.length
    sum.approvals += found.approvals.length
    sum.kept += found.kept
    seq = last.header.seq + 1
    onProgress(seq - first)
  }
  return sum
}

interface Erasable {
  targets: RedactionTarget[]
  approvals: string[]
  kept: number
}

async function erasableIn(deps: Deps, entries: readonly StoredEntry[]): Promise<Erasable> {
  const found: Erasable = { targets: [], approvals: [], kept: 0 }
  const seen = new Set<string>()
  for (const entry of entries) {
    const { type } = entry.header
    if (!isOfApproval(type)) found.targets.push(...targetsAt(entry))
    const id = isOfApproval(type) ? changeIn(entry)?.id : undefined
    if (id === undefined || seen.has(id)) continue
    seen.add(id)
    const targets = await approvalTargets(deps, id)
    if (targets === undefined) found.kept += 1
    else found.approvals.push(id)
    found.targets.push(...(targets ?? []))
  }
  return found
}

function targetsAt({ header, sections }: StoredEntry): RedactionTarget[] {
  const { seq, type } = header
  return sections
    .filter(({ name }) => isErasable(type, name))
    .map(({ name: section }) => ({ first: seq, last: seq, section }))
}

/** The contents of every entry of the approval; undefined while it is open, since its record is still used. */
async function approvalTargets({ store, clock }: Deps, id: string): Promise<RedactionTarget[] | undefined> {
  const approval = await store.approval(id)
  if (approval === undefined || isOpen(store, approval, clock())) return undefined
  const changes = await store.changesOf('approval', id)
  return changes.flatMap((entry) => targetsAt(entry))
}

function erase(
  deps: Deps,
  actor: Actor,
  { chain, targets, approvals, reason }: Erasable & { chain: string; reason: string },
): Promise<void> {
  return decideAndCommit(deps.store, async () => {
    const entry = eventEntry(deps, chain, 'audit.redaction', { targets: joinedTargets(targets), reason }, actor)
    const writes = [{ kind: 'erase', chain, targets, approvals } as const]
    return { submission: { guards: [], writes, entries: [entry] }, reply: () => undefined }
  })
}
