import { type Actor, SERVICE } from '../../audit/draft.ts'
import { RETRY_MS } from '../../authoring/load/files.ts'
import { limitConcurrency } from '../../base/concurrency.ts'
import { type Clock, formatTimestamp, steadyClock } from '../../base/time.ts'
import type { PolicyRecord } from '../../store/records.ts'
import { type AlteredText, type InForceDeps, recordRejected, type Slot, tellInForce } from './policies.ts'
import type { PolicyOrigin } from './registry.ts'
import { type StoredSource, storedInForce } from './stored.ts'
import { textsIn } from './texts.ts'

export interface StoredSlot extends Slot {
  /** Revision of the record that was taken in, or refused. */
  readonly revision: number
  /** Time at which it is tried again unchanged; null when the result would be the same. */
  readonly retryMs: number | null
  /** True while the refusal is not in the audit chain yet. */
  readonly isUnrecorded: boolean
}

/** Sets that are read and loaded at once: their texts are in memory together. */
const LOADS = 2

const ALTERED: Readonly<Record<AlteredText, (digest: string) => string>> = {
  policy_not_kept: (digest) =>
    `policy_not_kept: The store lacks the text of ${digest}, the set in force by the audit chain; push it again.`,
  policy_altered: (digest) =>
    `policy_altered: The text of ${digest} in the store is not the one that was pushed; push it again.`,
}

interface Timed extends InForceDeps {
  /** For what waits; times that are shown come from the clock. */
  steady: Clock
}

/**
 * The sets that the records in the store name, which were tested before they came there. A set that this version cannot
 * load leaves the one before in force. A text that is not the recorded one was altered: nothing is allowed by any set then.
 */
export function storeOrigin(given: InForceDeps): PolicyOrigin<StoredSlot> {
  const deps = { ...given, steady: steadyClock(given.clock) }
  const inTurn = limitConcurrency(LOADS)
  return {
    names: () => [],
    async look(slots, tenant, asker) {
      if (asker !== undefined) await deps.store.refresh()
      const record = deps.store.state().policies.get(tenant)
      if (record === undefined) return
      const slot = slots.get(tenant)
      const isDue = slot?.retryMs != null && (asker !== undefined || deps.steady() >= slot.retryMs)
      const checkedAt = formatTimestamp(deps.clock())
      const isKnown = slot?.revision === record.revision && !isDue
      // It counts before its record: a chain that cannot be written must not keep an altered set in force.
      slots.set(tenant, isKnown ? { ...slot, checkedAt } : await inTurn(() => takeIn(deps, slot, record, checkedAt)))
      await recordRefusal(deps, slots, tenant, asker ?? SERVICE)
    },
  }
}

async function recordRefusal(deps: Timed, slots: Map<string, StoredSlot>, tenant: string, actor: Actor): Promise<void> {
  const slot = slots.get(tenant)
  if (slot === undefined || !slot.isUnrecorded) return
  await recordRejected(deps, tenant, slot.faults, actor)
  slots.set(tenant, { ...slot, isUnrecorded: false })
}

/** The state after an attempt. */
async function takeIn(
  deps: Timed,
  slot: StoredSlot | undefined,
  record: PolicyRecord,
  checkedAt: string,
): Promise<StoredSlot> {
  const good = { revision: record.revision, checkedAt, retryMs: null, isUnrecorded: false, faults: [] }
  // Its text was pushed again, to repair the stored one.
  if (slot?.set?.digest === record.digest && slot.faults.length === 0) return { ...slot, ...good }
  const found = await storedInForce(deps, record)
  if (found.set === undefined) return refused(deps, slot, record, checkedAt, found)
  const { set, source, diagnostics } = found
  tellInForce(deps, set)
  return { ...good, set, texts: textsIn(source), since: formatTimestamp(deps.clock()), diagnostics }
}

function refused(
  deps: Timed,
  slot: StoredSlot | undefined,
  { id, revision, digest }: PolicyRecord,
  checkedAt: string,
  { code, faults: found, diagnostics, retry }: Extract<StoredSource, { set: undefined }>,
): StoredSlot {
  const isUnloadable = code === 'policy_unloadable'
  const faults = isUnloadable ? found : [ALTERED[code](digest)]
  const { set, texts, since = null } = isUnloadable ? (slot ?? {}) : {}
  const isNew = slot?.faults.join('\n') !== faults.join('\n')
  const told = { fault: faults[0] ?? '', faults: faults.length, inForce: set ?? null }
  if (isNew) deps.onChange(id, isUnloadable ? told : { ...told, code })
  const retryMs = retry || !isUnloadable ? deps.steady() + RETRY_MS : null
  const isUnrecorded = isNew || slot.isUnrecorded
  return { set, texts, since, checkedAt, faults, diagnostics, revision, retryMs, isUnrecorded }
}
