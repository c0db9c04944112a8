import type { JsonObject } from '../../base/json.ts'
import { SYSTEM_CHAIN } from '../chain.ts'
import { isPlaced } from '../events.ts'
import { isErasable } from '../redaction.ts'
import { actorFault } from './actors.ts'
import { approvalFault } from './approvals.ts'
import { decisionFault } from './decisions.ts'
import { keyFault, noteRotation } from './keys.ts'
import { lengthsFault, otherFault, plainFault } from './others.ts'
import type { Place, Told, Violation } from './place.ts'
import { mayStand, type Rule, recordNameOf, ruleOf } from './rules.ts'
import {
  broken,
  changedRecord,
  changeIn,
  emptyState,
  type Fault,
  type Knowledge,
  putRecord,
  type State,
} from './state.ts'
import { stopFault } from './stops.ts'

/** A record of another chain as it is from a place on: before the entry at `at` of the replayed chain. */
export interface Elsewhere {
  at: number
  record: 'key' | 'switch'
  body: JsonObject
}

/** State that the replay begins with. */
export interface Start {
  chain: string
  knows: Knowledge
  /** The records that the entries before have left, but approvals. */
  records: readonly { record: string; body: JsonObject }[]
  /** Changes in other chains that count here, by place. */
  elsewhere: readonly Elsewhere[]
}

export interface Replay {
  /** Takes an entry in without judging it. */
  take(told: Told): void
  /** Holds an entry to the rules, in order, and takes it in as it is. @returns what is broken, here or just before */
  step(told: Told): Violation[]
  /** The last ones. @param isEnd true at the end of the chain, where no commit is half */
  finish(isEnd: boolean): Violation[]
  /** Number of checks that need entries which are not at hand. */
  unjudged(): number
}

/**
 * Replays a chain: every entry must be what its actor might do, given the entries before it. It is only told what
 * entries say; that they are the ones that were written is verified apart.
 */
export function replay({ chain, knows, records, elsewhere }: Start): Replay {
  const state = emptyState(chain, knows)
  for (const { record, body } of records) putRecord(state, record, body, 0)
  let next = 0
  let regressedTs = ''

  const placeOf = ({ header }: Told): Place => {
    const { seq, ts, type, id } = header
    for (let other = elsewhere[next]; other !== undefined && other.at <= seq; other = elsewhere[++next])
      putRecord(state, other.record, other.body, other.at)
    if (type === 'clock.regression') regressedTs = ts
    // The verification of the chain has read the time strictly.
    const atMs = ts === regressedTs ? Number.NEGATIVE_INFINITY : Date.parse(ts)
    return { chain: header.chain, seq, ts, id, atMs }
  }
  const step = (told: Told): Violation[] => {
    const place = placeOf(told)
    const half = halfFault(state, told)
    const fault = entryFaultOf(state, place, told)
    takeIn(state, place, told)
    settle(state, told)
    return [...half, ...(fault === undefined ? [] : [{ seq: place.seq, ...fault }])]
  }
  return {
    take: (told) => void step(told),
    step,
    finish: (isEnd) => (isEnd ? halfFault(state, undefined) : []),
    unjudged: () => state.unjudged,
  }
}

/**
 * Takes in what the entry records, lawful or not: so each fault is told once, and what follows is judged by what the
 * service went on from.
 */
function takeIn(state: State, place: Place, { header, section }: Told): void {
  const rule = ruleOf(header.type)
  if (rule === undefined || rule.by.none !== undefined || !mayStand(rule, header.chain)) return
  const [data, actor] = [section('data'), section('actor')]
  const change = changeIn(data)
  if (data === undefined || change === undefined || recordNameOf(rule, data) === undefined) return
  const before = state.keys.get(change.id)
  const body = changedRecord(state, change)
  if (body !== undefined) putRecord(state, change.record, body, header.seq)
  // An entry of an earlier version has no mode.
  if (header.type === 'policy.loaded' && data.mode !== 'observe') state.enforced.add(String(change.changes.digest))
  if (change.record === 'key' && header.type === 'key.rotated') noteRotation(state, place, before, actor ?? {})
}

/** Requirement of the entry before that this one does not fulfil. */
function halfFault(state: State, told: Told | undefined): Violation[] {
  const { decided, rotated } = state
  const isUse = decided?.decision === 'allow' && decided.approvalId !== null
  if (rotated === undefined && !isUse) return []
  const data = told?.section('data')
  const faults: Violation[] = []
  if (rotated !== undefined && (told?.header.type !== 'key.created' || data?.id !== rotated.successor))
    faults.push({ seq: rotated.seq, ...broken('order', `no key follows that replaces key ${rotated.before.id}`) })
  if (decided === undefined || !isUse) return faults
  const isUsed = told?.header.type === 'approval.consumed' && (data === undefined || data.id === decided.approvalId)
  const what = `its approval ${decided.approvalId}`
  if (!isUsed) faults.push({ seq: decided.seq, ...broken('order', `${what} is not used up with it`) })
  else if (decided.usesUnknown && data !== undefined && state.knows.own)
    faults.push({ seq: decided.seq, ...broken('state', `${what} was not open`) })
  return faults
}

/** Forgets what holds for the entries of one commit only. */
function settle(state: State, { header: { seq, type } }: Told): void {
  const { decided, rotated } = state
  // Expiries stand between a decision and the approval that it asks for.
  const goesOn = type === 'approval.expired' && decided?.decision !== 'allow'
  if (seq !== decided?.seq && !goesOn) state.decided = undefined
  if (seq !== rotated?.seq) state.rotated = undefined
}

function entryFaultOf(state: State, place: Place, told: Told): Fault | undefined {
  const { chain, seq, type } = told.header
  const isElsewhere = broken('type', `entries of the type ${type} do not belong here`)
  if ((type === 'audit.genesis') !== (seq === 0)) return isElsewhere
  if (type === 'gate.decision') return chain === SYSTEM_CHAIN ? isElsewhere : decisionFault(state, place, told)
  const rule = ruleOf(type)
  if (rule === undefined) return broken('type', `the service writes no entries of the type ${type}`)
  return mayStand(rule, chain) ? toldFault(state, place, told, rule) : isElsewhere
}

function toldFault(state: State, place: Place, told: Told, rule: Rule): Fault | undefined {
  const { type } = told.header
  const sections = told.sections.filter((name) => name !== 'detail' || type !== 'outcome.recorded')
  if (sections.toSorted().join() !== rule.sections.join()) return broken('form', 'it has other sections')
  const data = rule.isRead ? told.section('data') : undefined
  const actor = told.section('actor')
  const unread = [rule.isRead && data === undefined && 'data', actor === undefined && 'actor']
  for (const name of unread)
    if (name && (told.has(name) || !isErasable(type, name))) return broken('form', `its ${name} cannot be read`)
  if (actor === undefined || (rule.isRead && data === undefined)) return undefined
  const misplaced = isPlaced(type, () => data?.record) ? lengthsFault(state, data) : undefined
  if (misplaced !== undefined) return misplaced
  const name = recordNameOf(rule, data ?? {})
  const who = name && rule.by[name]
  if (name === undefined || who === undefined)
    return broken('type', `an entry of type ${type} cannot change such a record`)
  const fault = actorFault(state, place, actor, who)
  if (fault !== undefined) return fault
  if (name === 'none') return plainFault(state, type, data ?? {}, actor)
  const change = changeIn(data)
  if (change === undefined || data === undefined) return broken('form', 'its data is not the change of a record')
  if (name === 'approval') return approvalFault(state, { ...change, place, type, data, actor })
  if (name === 'switch') return stopFault(state, type, change, actor)
  if (name === 'key') return keyFault(state, place, type, change, actor)
  return otherFault(state, type, change, name)
}
