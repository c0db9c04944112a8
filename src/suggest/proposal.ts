import type { Amendment } from '../authoring/format/amend.ts'
import type { Json } from '../base/json.ts'
import type { FactType } from '../policies/set.ts'
import type { Minima } from './shapes.ts'
import type { Support } from './tally.ts'

/** Kinds of proposals: an action that nobody asks for, a number far below its limit, a hold that is always approved. */
type Kind = 'unused' | 'limit' | 'approved'

/** A change of the policies that a trail supports. Nobody has judged whether it is right. */
export interface Proposal {
  kind: Kind
  effect: 'tightens' | 'loosens'
  /** Rules that it is about. */
  rules: readonly string[]
  /** Patterns of the actions that it is about. */
  actions: readonly string[]
  what: string
  why: string
  support: Support
  /** Distinct people who voted; absent where nobody was asked. */
  approvers?: number
  /** Arguments that it leaves free. */
  free?: readonly string[]
  /** The number above which it restrains. */
  above?: { fact: string; limit: number }
  amendments: readonly Amendment[]
  /** A rule that it adds. */
  added?: AddedRule
  /** Condition under which it adds an allow rule, and the holding rules do not apply. */
  condition?: Json
  /** Facts that its conditions read. */
  facts: ReadonlyMap<string, FactType>
}

interface AddedRule {
  effect: 'allow' | 'require_approval'
  /** For agents: it says nothing of the trail. */
  reason: string
  when: Json
}

/** Options of what is proposed. */
export interface Wanted {
  minima: Minima
  /** Arguments that may have any value in a shape. */
  free: readonly string[]
}

/** Something that the trail might support, and why it is not proposed. */
export interface NotProposed {
  what: string
  why: string
}
