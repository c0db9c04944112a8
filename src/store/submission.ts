import type { Standing } from '../approvals/approval.ts'
import type { EntryDraft, PreparedEntry } from '../audit/draft.ts'
import type { Entry, Header } from '../audit/entry.ts'
import type { EventType } from '../audit/events.ts'
import type { Hash, Place } from '../audit/merkle.ts'
import type { RedactionTarget } from '../audit/redaction.ts'
import type { SealKey } from '../audit/seal.ts'
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
 * Texts of a policy set that came into force: they survive a restart with a broken folder, and explain its decisions.
 * Only the newest sets of a tenant are kept (docs/format.md).
 */
export interface StoredPolicies {
  tenantId: string
  /** Digest of the set that the texts make; readers compute it again. */
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
  /** Adds a checkpoint signed by the log key, with the subtrees that it completes. */
  | { kind: 'checkpoint'; chain: string; size: number; note: string; nodes: readonly TreeNode[] }
  /** Deletes these sections, and the approvals that they belong to. */
  | { kind: 'erase'; chain: string; targets: readonly RedactionTarget[]; approvals: readonly string[] }
  /**
   * Deletes the entries of a chain before `size`, and these approvals, whose entries all lie there. The entry
   * `audit.prune` of the submission records it; at least one entry must remain.
   *
   * @param frontier frontier of the tree over the deleted entries
   */
  | { kind: 'prune'; chain: string; size: number; frontier: readonly TreeNode[]; approvals: readonly string[] }
  /**
   * Seals every chain with another log key; each must be sealed with the key before it. Without a key, seals every
   * chain as it is with the key in use.
   */
  | { kind: 'reseal'; key: SealKey | undefined }
  /** Records that a sink of anchors has taken the checkpoints up to this number. */
  | { kind: 'anchored'; delivery: Delivery }
  /** Records last uses of keys; the later of the stored and the new time stays. */
  | { kind: 'keyUse'; uses: readonly KeyUse[] }
  /** Writes so many bytes that mean nothing, to learn whether the file takes them. */
  | { kind: 'trial'; at: string; bytes: number }

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

export interface KeyUse {
  keyId: string
  at: string
}

export interface Delivery {
  sink: string
  /** Number of the newest checkpoint that the sink has taken. */
  number: number
  at: string
}

/** Condition that must still hold at the commit, checked inside its transaction against the file. */
export type Guard =
  | { kind: 'notStopped'; subject: Subject }
  | { kind: 'keyActive'; keyId: string }
  /** Like keyActive, for a key whose vote the submission relies on. */
  | { kind: 'voterActive'; keyId: string }
  /** The newest checkpoint of the chain has this size; 0 when there is none. */
  | { kind: 'checkpointed'; chain: string; size: number }
  /** The chain begins with this seq. */
  | { kind: 'prunedTo'; chain: string; size: number }
  /** This log key is in use. */
  | { kind: 'logKeyInUse'; id: string }
  /** No stop over the subject was triggered since its chain had this length, ended ones included. */
  | { kind: 'noStopSince'; subject: Subject; end: number }
  /** The commit comes before this time, in milliseconds. */
  | { kind: 'before'; untilMs: number }
  /** The open approval is past its time, by the clock and the stops as they are then, or is not. */
  | { kind: 'expiry'; of: Standing; isOver: boolean }
  /** None of these actions has been allowed in these scopes since this seq. */
  | { kind: 'noNewAllows'; chain: string; since: number; of: readonly (TakenBy & { actions: readonly Glob[] })[] }
  /** The counters are held until the commit, which comes at `end` or later. */
  | { kind: 'counters'; of: readonly CounterUse[]; endMs: number; reservation: string | null }
  /** Fewer than this many approvals of the requester are pending. */
  | { kind: 'pendingBelow'; chain: string; requestedBy: string; limit: number }
  /** No entry of these types refers to the decision, in any chain of the trail of this one. */
  | { kind: 'noOutcome'; chain: string; decisionId: string; types: readonly EventType[] }
  /** The value still maps to this entry; null: to none. */
  | { kind: 'idempotency'; keyId: string; route: string; value: string; entryId: string | null }

/** A counter of a trail that a decision is counted by, or reads. */
export interface CounterUse {
  counter: string
  /** Its floor when it was read, which must be the same; null where the decision is only counted. */
  floorMs: number | null
}

export interface Submission {
  guards: readonly Guard[]
  writes: readonly Write[]
  /** At least one, except for deliveries, uses of keys and trials: no state changes without an entry. Appended in order. */
  entries: readonly EntryDraft[]
}

/** Position of an appended entry. */
export type Placed = Pick<Header, 'id' | 'chain' | 'seq' | 'ts'> & Pick<Entry, 'hash'>

export interface Committed {
  conflict: null
  /** In the order of the drafts. */
  entries: readonly Placed[]
}

/**
 * Refusal of a whole submission: read again and decide again. Nothing was written, except an allow that a stop overtook
 * during the write (`notStopped`): it is in the chain, but no caller receives it.
 */
export interface Conflict {
  /**
   * Guard that failed; `revision`: a record had changed; `pending`: an approval of the same digest is already pending;
   * `abandoned`: nobody waits for the result.
   */
  conflict: Guard['kind'] | 'revision' | 'pending' | 'abandoned'
}

/** Submission in the form that the writer takes. */
export type PreparedSubmission = Omit<Submission, 'entries'> & { entries: readonly PreparedEntry[] }
