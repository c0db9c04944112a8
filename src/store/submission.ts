import type { EntryDraft } from '../audit/entry.ts'
import type { EventType } from '../audit/events.ts'
import type { RedactionTarget } from '../audit/redaction.ts'
import type { Hash, Place } from '../audit/tree.ts'
import type { Glob } from '../base/glob.ts'
import type { Subject } from '../killswitch/killswitch.ts'
import type { TakenBy } from './queries.ts'
import type { RecordWrite } from './records.ts'

export interface IdempotencyUse {
  keyId: string
  /** Route and chain. */
  route: string
  value: string
  /** Digest of the request's body; another body under the same value is a conflict. */
  bodyDigest: string
  entryId: string
  atMs: number
}

/**
 * Texts of a policy set that came into force: it survives a restart with a broken folder, and its decisions can be explained.
 * The newest of a tenant are kept (docs/format.md).
 */
export interface StoredPolicies {
  tenantId: string
  /** Of the set that the texts make, which whoever reads them works out again. */
  digest: string
  source: string
}

/**
 * A change of state. A record is written at `revision` n only over revision n − 1 (none for 1); any
 * other stored revision is a conflict, so two writers never lose each other's change.
 */
export type Write =
  | RecordWrite
  | { kind: 'idempotency'; use: IdempotencyUse }
  | { kind: 'policySource'; stored: StoredPolicies }
  /** Signed by the log key, with the subtrees that it completes. */
  | { kind: 'checkpoint'; chain: string; size: number; note: string; nodes: readonly TreeNode[] }
  /** Deletes these sections, and the approvals that they were of. */
  | { kind: 'erase'; chain: string; targets: readonly RedactionTarget[]; approvals: readonly string[] }
  /**
   * Deletes everything of a chain before `size`, and these approvals, all of whose entries are there. An entry `audit.prune` with it
   * says so; one entry at least must be left.
   *
   * @param frontier what is left of the tree over them
   */
  | { kind: 'prune'; chain: string; size: number; frontier: readonly TreeNode[]; approvals: readonly string[] }
  /** A sink of anchors has taken the checkpoints up to this number. */
  | { kind: 'anchored'; delivery: Delivery }
  /** Of what is noted already, the later time stays. */
  | { kind: 'keyUse'; uses: readonly KeyUse[] }

export interface TreeNode extends Place {
  hash: Hash
}

export interface StoredCheckpoint {
  /** Grows with each checkpoint of any chain. */
  number: number
  chain: string
  size: number
  note: string
}

/** When a key was used last. */
export interface KeyUse {
  keyId: string
  at: string
}

export interface Delivery {
  sink: string
  /** Of the newest checkpoint that was taken. */
  number: number
  at: string
}

/** What must still be true at the commit, checked inside its transaction against the file. */
export type Guard =
  | { kind: 'notStopped'; subject: Subject }
  | { kind: 'keyActive'; keyId: string }
  /** As keyActive, for a key whose vote is relied on. */
  | { kind: 'voterActive'; keyId: string }
  /** The newest checkpoint of the chain has this size; 0 when there is none. */
  | { kind: 'checkpointed'; chain: string; size: number }
  /** The chain begins with this seq. */
  | { kind: 'prunedTo'; chain: string; size: number }
  /** This log key is the one in use. */
  | { kind: 'logKeyInUse'; id: string }
  /** The commit comes before this time, in milliseconds. */
  | { kind: 'before'; timeMs: number }
  /** From this seq on, none of these has been allowed. */
  | { kind: 'noNewAllows'; chain: string; since: number; of: readonly (TakenBy & { actions: readonly Glob[] })[] }
  /** No entry of these types tells of the decision. */
  | { kind: 'noOutcome'; chain: string; decisionId: string; types: readonly EventType[] }
  /** The value still leads to this entry; null: to none. */
  | { kind: 'idempotency'; keyId: string; route: string; value: string; entryId: string | null }

export interface Submission {
  guards: readonly Guard[]
  writes: readonly Write[]
  /** At least one, but for a note of what was delivered, or of which keys were used: no state changes without an entry. Appended in order. */
  entries: readonly EntryDraft[]
}

/** Where an entry was put. */
export interface Placed {
  id: string
  chain: string
  seq: number
  ts: string
  hash: string
}

export interface Committed {
  conflict: null
  /** In the order of the drafts. */
  entries: readonly Placed[]
}

/**
 * Nothing of the submission counts. Read again and decide again. Nothing of it was written either, but for an allow that a stop
 * overtook while it was being written (`notStopped`): that is in the chain, and nobody is given it.
 */
export interface Conflict {
  /** Which guard failed; `revision`: a record had changed; `pending`: an approval of the same digest is pending already. */
  conflict: Guard['kind'] | 'revision' | 'pending'
}
