import { grouped } from '../base/grouped.ts'
import { isJsonObject, type Json, readJson } from '../base/json.ts'
import { partitionPoint } from '../base/partition-point.ts'
import { EVENT_TYPES, isOfApproval } from './events.ts'

/** Erased sections: those of this name in the entries first <= seq <= last. */
export type RedactionTarget = { first: number; last: number; section: string }

const MAX_DEPTH = 8

/** The valid targets of an entry `audit.redaction`; others are ignored. @param json its section `data` */
export function targetsOf(json: string): RedactionTarget[] {
  const data = readJson(json, { maxDepth: MAX_DEPTH })
  const targets = isJsonObject(data) ? data.targets : undefined
  return Array.isArray(targets) ? targets.flatMap(targetOf) : []
}

function targetOf(value: Json): RedactionTarget[] {
  if (!isJsonObject(value)) return []
  const { first, last, section } = value
  return typeof first === 'number' && typeof last === 'number' && typeof section === 'string'
    ? [{ first, last, section }]
    : []
}

/** True for erasable sections: content sent to the service, and approvals. Decisions and the sources of state stay. */
export function isErasable(type: string, section: string): boolean {
  if (type === 'gate.decision') return section === 'request'
  if (section === 'detail') return true
  const isOurs = (EVENT_TYPES as readonly string[]).includes(type)
  return (!isOurs || isOfApproval(type)) && (section === 'data' || section === 'actor')
}

/** Returns a test for sections that one of the targets covers. */
export function erasures(targets: readonly RedactionTarget[]): (seq: number, section: string) => boolean {
  const bySection = grouped(joinedTargets(targets), (target) => target.section)
  return (seq, section) => {
    const own = bySection.get(section) ?? []
    const at = partitionPoint(own.length, (i) => (own[i]?.last ?? seq) < seq)
    return (own[at]?.first ?? Number.POSITIVE_INFINITY) <= seq
  }
}

/** The targets by section and seq, with neighbours merged. */
export function joinedTargets(targets: readonly RedactionTarget[]): RedactionTarget[] {
  const order = (a: RedactionTarget, b: RedactionTarget): number =>
    a.section === b.section ? a.first - b.first : a.section < b.section ? -1 : 1
  const runs: RedactionTarget[] = []
  for (const target of [...targets].sort(order)) {
    const run = runs.at(-1)
    if (run !== undefined && run.section === target.section && run.last + 1 >= target.first)
      run.last = Math.max(run.last, target.last)
    else runs.push({ ...target })
  }
  return runs
}
