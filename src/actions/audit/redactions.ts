import type { StoredEntry } from '../../audit/entry.ts'
import { erasures, isErasable, type RedactionTarget, targetsOf } from '../../audit/redaction.ts'
import { GateError } from '../../base/errors.ts'
import { lengthOf } from '../../store/bounds.ts'
import type { Store } from '../../store/store.ts'

/** All erasures of a chain, from this entry on. */
export async function redactionsAfter(store: Store, chain: string, seq: number): Promise<RedactionTarget[]> {
  const length = await lengthOf(store, chain)
  const seqs = await store.seqsOfTypes(chain, ['audit.redaction'], { first: seq + 1, end: length })
  const targets: RedactionTarget[] = []
  for (const at of seqs) {
    const entry = await store.entryAt(chain, at)
    const data = entry?.sections.find(({ name }) => name === 'data')
    if (data !== undefined) targets.push(...targetsOf(data.json))
  }
  return targets
}

/** The sections that an entry committed to and no longer has, and whether a command erased them. */
export async function missingSections(
  store: Store,
  { header, sections }: StoredEntry,
): Promise<{ name: string; isRedacted: boolean }[]> {
  const names = Object.keys(header.commits).filter((name) => !sections.some((section) => section.name === name))
  if (names.length === 0) return []
  const isErased = erasures(await redactionsAfter(store, header.chain, header.seq))
  return names.map((name) => ({ name, isRedacted: isErasable(header.type, name) && isErased(header.seq, name) }))
}

/** @throws GateError `audit_unavailable` when something of the entry is missing that no command erased */
export async function assertErasedLawfully(store: Store, entry: StoredEntry): Promise<void> {
  const unlawful = (await missingSections(store, entry)).find(({ isRedacted }) => !isRedacted)
  if (unlawful === undefined) return
  const { chain, seq } = entry.header
  throw new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq}: section ${unlawful.name} is missing.`)
}
