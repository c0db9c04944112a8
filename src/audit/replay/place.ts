import type { JsonObject } from '../../base/json.ts'
import type { Header } from '../entry.ts'

/** The rules that entries are held to, each with what it asks for. */
export const RULES = {
  type: 'only types that the service has, and those of callers; each in the chains where it belongs',
  form: 'an entry has the sections, the members and the changes of its type; nothing is missing but what a command may erase',
  actor:
    'a key that acts was made before, its identity and roles are as recorded, and it acts in its own tenant and world',
  active: 'a key that acts, or whose vote is used, has neither been revoked nor expired',
  role: 'a key does only what its roles permit, the host and the service only what is theirs to do',
  record: 'a record is made once, and each change goes on from the one before',
  order: 'entries of one commit stand together: a use after its decision, a new secret after the end of the old one',
  stopped: 'nothing is allowed or approved under a stop that covers it; only what is in force is ended',
  decision: 'an allow comes from a rule or from an approval, and is the action that was asked for',
  state:
    'an approval goes from pending to approved, rejected, expired or cancelled, and from approved to used, once, before its deadline',
  vote: 'a voter has the groups, is not the requester, and votes once, in its own name',
  quorum: 'an approval has the votes of as many people as it needs, counted again when it is given and when it is used',
  bound: 'an approval is used for exactly the request that was approved, by its requester',
} as const
export type RuleName = keyof typeof RULES

/** A broken rule, as a sentence without its first capital and its full stop. */
export interface Violation {
  seq: number
  rule: RuleName
  what: string
}

/** An entry that is replayed, after its hash and its commitments were verified. */
export interface Told {
  header: Pick<Header, 'chain' | 'seq' | 'ts' | 'type' | 'id'>
  /** Content of a section; undefined where it was erased, or is not an object. */
  section(name: string): JsonObject | undefined
  /** True while the section has not been erased. */
  has(name: string): boolean
  /** Names of the sections that the entry committed to. */
  sections: readonly string[]
}

/** Where an entry stands. */
export interface Place extends Pick<Header, 'chain' | 'seq' | 'id' | 'ts'> {
  /** Time in ms; minus infinity while the clock lags behind the chain, and only the chain's order is known. */
  atMs: number
}
