import { type Actor, SERVICE } from '../../audit/draft.ts'
import { MISSING, RETRY_MS, type TenantFolder } from '../../authoring/load/files.ts'
import { type Clock, formatTimestamp, steadyClock } from '../../base/time.ts'
import type { PolicySet } from '../../policies/set.ts'
import { type AdmissionDeps, admissionOf } from './admission.ts'
import { type PolicyFolders, settling } from './folders.ts'
import {
  type InForceDeps,
  type Loaded,
  recordLoaded,
  recordRejected,
  type Slot,
  tellInForce,
  tryLoad,
} from './policies.ts'
import type { PolicyOrigin } from './registry.ts'
import { storedSource } from './stored.ts'
import { textsIn } from './texts.ts'

export interface FolderDeps extends InForceDeps, AdmissionDeps {
  folders: PolicyFolders
  /** False reads the folders at start and on request only. */
  watch: boolean
}

interface Timed extends FolderDeps {
  /** For what waits; times that are shown come from the clock. */
  steady: Clock
}

export interface FolderSlot extends Slot {
  /** Fingerprint of the folder's newest content, valid or not. */
  readonly fingerprint: string
  /** The newest content, and the time at which it is retried unchanged; null when the result would be the same. */
  readonly retry: { readonly atMs: number; readonly folder: TenantFolder } | null
  /**
   * The folder of the set, until this process has recorded it in the audit chain. Later records by others are not
   * answered: two servers with different folders would otherwise answer each other for ever.
   */
  readonly unrecorded: TenantFolder | null
  /** The newest set, where only a sealed replay of it is missing; null otherwise. */
  readonly untried: PolicySet | null
}

/** The sets of a folder for each tenant, replaced set by set as the folders change. */
export function folderOrigin(given: FolderDeps): PolicyOrigin<FolderSlot> {
  const deps = { ...given, steady: steadyClock(given.clock) }
  const settled = settling(deps)
  const isTime = ({ atMs }: { atMs: number }): boolean => deps.steady() >= atMs

  /** Handles a folder's content; `actor` is the requester, if any. */
  const consider = async (slots: Map<string, FolderSlot>, folder: TenantFolder, actor?: Actor): Promise<void> => {
    const slot = slots.get(folder.tenant)
    if (slot === undefined && folder.fingerprint === MISSING && !deps.store.state().policies.has(folder.tenant)) return
    const isDue = slot?.retry != null && (actor !== undefined || isTime(slot.retry))
    const isKnown = slot !== undefined && slot.fingerprint === folder.fingerprint && !isDue
    const checkedAt = formatTimestamp(deps.clock())
    slots.set(folder.tenant, isKnown ? { ...slot, checkedAt } : await takeIn(deps, slot, folder, actor ?? SERVICE))
  }
  const recordLater = async (slots: Map<string, FolderSlot>, tenant: string): Promise<void> => {
    const slot = slots.get(tenant)
    const folder = slot?.unrecorded
    if (slot?.set === undefined || folder == null || 'problem' in folder.source) return
    const recorded = await recordLoaded(deps, slot.set, folder.source, SERVICE)
    const refusal = refusalOf(recorded, slot.set, slot)
    if (refusal !== undefined) slots.set(tenant, await refused(deps, slot, folder, SERVICE, refusal))
    else if (recorded === 'recorded') slots.set(tenant, { ...slot, unrecorded: null })
  }
  return {
    names: deps.folders.names,
    async look(slots, tenant, asker) {
      if (asker !== undefined) return consider(slots, await deps.folders.readSettled(tenant), asker)
      await recordLater(slots, tenant)
      const slot = await waitingOn(deps, slots.get(tenant))
      if (slot !== undefined) slots.set(tenant, slot)
      if (deps.watch) {
        const folder = settled(await deps.folders.read(tenant), slot?.fingerprint)
        if (folder !== undefined) await consider(slots, folder)
      } else if (slot?.retry != null && isTime(slot.retry)) await consider(slots, slot.retry.folder)
    },
  }
}

const PUSHED =
  'The set in the store was pushed, and a folder does not replace it by itself: start the service with `--policies store:`, or ask for the folder with POST /policies/reload.'

/** Refusal of a good set; undefined where it may come into force. It is tried again: the next entry may admit it. */
function refusalOf(
  recorded: Awaited<ReturnType<typeof recordLoaded>>,
  set: PolicySet,
  { diagnostics }: Pick<Slot, 'diagnostics'>,
): Refusal | undefined {
  if (recorded === 'pushed') return { faults: [PUSHED], diagnostics, retry: true }
  if (typeof recorded === 'string') return undefined
  return { faults: [recorded.fault], diagnostics, retry: true, untried: set }
}

type Refusal = Pick<Loaded, 'faults' | 'diagnostics' | 'retry'> & { untried?: PolicySet | null }

/** Interval between two looks whether a sealed replay is there. */
const ADMISSION_MS = 2000

/** The slot; a set that still lacks its replay waits on, without being loaded again. */
async function waitingOn(deps: Timed, slot: FolderSlot | undefined): Promise<FolderSlot | undefined> {
  if (slot?.untried == null || slot.retry === null || deps.steady() < slot.retry.atMs) return slot
  const { untried, retry, faults } = slot
  const admission = await admissionOf(deps, untried, deps.store.state().policies.get(untried.tenant))
  if (!('fault' in admission) || admission.fault !== faults[0]) return slot
  return { ...slot, retry: { ...retry, atMs: deps.steady() + ADMISSION_MS } }
}

/** The state after an attempt; a set is recorded before it answers anybody. */
async function takeIn(
  deps: Timed,
  slot: FolderSlot | undefined,
  folder: TenantFolder,
  actor: Actor,
): Promise<FolderSlot> {
  const { source } = folder
  const loaded = await tryLoad(source, deps.compileAndTest)
  const { set, diagnostics } = loaded
  if (set === undefined || 'problem' in source) return refused(deps, slot, folder, actor, loaded)
  const recorded = await recordLoaded(deps, set, source, actor)
  const refusal = refusalOf(recorded, set, loaded)
  if (refusal !== undefined) return refused(deps, slot, folder, actor, refusal)
  // Changed tests or comments leave the set the same.
  const isSame = slot?.set?.digest === set.digest
  if (!isSame || slot.faults.length > 0) tellInForce(deps, set)
  const now = formatTimestamp(deps.clock())
  const since = isSame ? slot.since : now
  const unrecorded = recorded === 'recorded' ? null : folder
  const inForce = { set, texts: textsIn(source), since, unrecorded, untried: null }
  return { ...inForce, checkedAt: now, fingerprint: folder.fingerprint, retry: null, faults: [], diagnostics }
}

async function refused(
  deps: Timed,
  slot: FolderSlot | undefined,
  folder: TenantFolder,
  actor: Actor,
  { faults, diagnostics, retry, untried = null }: Refusal,
): Promise<FolderSlot> {
  const { tenant, fingerprint } = folder
  const checkedAt = formatTimestamp(deps.clock())
  const digest = deps.store.state().policies.get(tenant)?.digest
  // A set that never was recorded decides nothing any more, once it may not come into force.
  const isRefused = faults[0] === PUSHED || (untried !== null && slot?.unrecorded !== null)
  const stays = slot?.set !== undefined && (!isRefused || slot.set.digest === digest)
  const { isUnsure, ...inForce } = stays ? kept(slot) : await lastKnownGood(deps, tenant)
  if (slot?.faults.join('\n') !== faults.join('\n')) {
    await recordRejected(deps, tenant, faults, actor)
    deps.onChange(tenant, { fault: faults[0] ?? '', faults: faults.length, inForce: inForce.set ?? null })
  }
  const waitMs = untried === null ? RETRY_MS : ADMISSION_MS
  const again = retry || isUnsure ? { atMs: deps.steady() + waitMs, folder } : null
  return { ...inForce, checkedAt, fingerprint, retry: again, untried, faults, diagnostics }
}

/** The policies that stay in force. */
interface InForce extends Pick<FolderSlot, 'set' | 'texts' | 'since' | 'unrecorded'> {
  /** True when loading failed, and may succeed another time. */
  readonly isUnsure: boolean
}

function kept({ set, texts, since, unrecorded }: FolderSlot): InForce {
  return { set, texts, since, unrecorded, isUnsure: false }
}

/** The set that was last in force, from the store; empty when the audit chain names another one. */
async function lastKnownGood(deps: FolderDeps, tenant: string): Promise<InForce> {
  const record = deps.store.state().policies.get(tenant)
  // Its tests passed when it came into force.
  const found = record && (await storedSource(deps, tenant, record.digest))
  const set = found?.set
  return {
    set,
    texts: set && textsIn(found.source),
    since: set === undefined ? null : (record?.loadedAt ?? null),
    unrecorded: null,
    isUnsure: found?.set === undefined && found?.retry === true,
  }
}
