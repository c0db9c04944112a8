// Written by `npm run docs` from the shapes by which the service parses and answers. Do not edit.

/** A held action, for people to decide. It covers exactly this request, once, until its deadline. */
export interface Approval {
  /** Names it in paths. */
  id: string
  action: string
  status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'consumed'
  /** UTC, with milliseconds. */
  createdAt: string
  context: { [member: string]: unknown }
  plan: { [member: string]: unknown } | null
  /** The decision that held the action. */
  decisionId: string
  riskScore: number
  factors: RiskFactor[]
  reason: string
  rule: string | null
  /** The requesting key's identity, else its id. */
  requestedBy: string
  /** Votes of distinct people that it needs. */
  quorum: number
  votes: Vote[]
  /** UTC, with milliseconds. */
  expiresAt: string
  /** UTC, with milliseconds. */
  decidedAt: string | null
  /** Digest of everything that the approval covers. */
  digest: string
  /** Paths that it does not cover. */
  unbound: string[]
  /** Stop that holds it, during which its time does not run, or that cancelled it. */
  stop: KillSwitch | null
}

/** Context for the decision on an approval, beyond the approval itself. */
export interface ApprovalBackground {
  /** The one that was asked for. */
  approvalId: string
  policyDigest: string | null
  /** A rule as it is written in the policies that decided. */
  rule: {
    id: string
    /** Policy file, such as `acme/main.yaml`. */
    file: string
    /** From 1. */
    line: number
    /** From 1. */
    endLine: number
    /** These lines; of more than 8,000 characters the beginning and the end. */
    text: string
  } | null
  /** Reason why `rule` is null. */
  unshown: {
    code: 'no_rule' | 'redacted' | 'policy_not_kept' | 'policy_altered' | 'policy_unloadable'
    message: string
  } | null
  /** The requester and its earlier decisions. */
  agent: {
    /** Requester: the key's identity, else its id. */
    principal: string
    /** Name of the key. */
    name: string | null
    /** The key that asked. */
    keyId: string
    /** Its last 10 other decisions, newest first. */
    recent: PastDecision[]
    /** Number of its checks in the last 24 hours, by decision. */
    lastDay: {
      allow: number
      deny: number
      require_approval: number
      /** False when not all 24 hours were looked at. */
      complete: boolean
    }
  }
  /** The session of the agent. */
  session: {
    /** Name of the session, from the fact that the policies declare. */
    id: string | null
    /** Its last 20 other decisions, newest first. */
    recent: PastDecision[]
  }
  /** Time back to which decisions were searched; null when there are no more. */
  searchedTo: string | null
  /** Requirements for voters and their votes. */
  approvers: {
    /** A voter has one of the groups of each list; without a list, every approver may vote. */
    groups: string[][]
    /** Votes of distinct people that it needs. */
    quorum: number
    /** True when the requester may approve. */
    selfApproval: boolean
  }
  /** Permission of this key to approve it now. */
  mayVote: {
    allowed: boolean
    /** Reason why not, as a sentence; null when allowed. */
    reason: string | null
  }
  /** Permission of this key to reject it now. */
  mayReject: {
    allowed: boolean
    /** Reason why not, as a sentence; null when allowed. */
    reason: string | null
  }
}

export interface ApprovalFigures {
  pending: number
  /** UTC, with milliseconds. */
  oldestPendingAt: string | null
  /** UTC, with milliseconds. */
  nextDeadlineAt: string | null
  /** Ends of approvals since `from`. An approved one may have expired afterwards too. */
  decided: {
    approved: number
    rejected: number
    expired: number
    cancelled: number
  }
  /** Time that people took to approve or reject; null where none did. */
  waitMs: {
    p50: number
    p90: number
    max: number
  } | null
}

export interface ApproveRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  approverId: string
  comment?: string
}

/** One entry of the hash-chained trail. */
export interface AuditEntry {
  /** Id of the entry; for a decision, its id with another prefix. */
  id: string
  /** UTC, with milliseconds. */
  timestamp: string
  /** One of the service's types, or a caller's own. */
  eventType: string
  data: { [member: string]: unknown } | null
  hash: string
  /** Its chain: that of the tenant, or a lane of it. */
  chain: string
  /** Its place in the chain, without gaps. */
  seq: number
  previousHash: string
  actor: { [member: string]: unknown } | null
}

export interface AuditFigures {
  /** Entries of the chain and its lanes, including pruned ones. */
  entries: number
  /** UTC, with milliseconds. */
  newestAt: string | null
  /** Last verification of all chains by the service; null before the first. */
  lastVerified: {
    /** UTC, with milliseconds. */
    at: string
    valid: boolean
    chains: number
  } | null
  /** Entries of all chains that no anchor covers; null without a sink. */
  unanchoredEntries: number | null
  sinks: {
    sink: 'file' | 'webhook'
    ok: boolean
    /** UTC, with milliseconds. */
    lastAt: string | null
  }[]
  /** Reason why nothing is written; null while writing is allowed. */
  fault: string | null
}

export interface BundleVerification {
  valid: boolean
  signatureValid: boolean
  chainValid: boolean
  timestampValid: boolean
  /** Incomplete: no check failed, but not all could be made. */
  verdict: 'valid' | 'invalid' | 'incomplete'
  /** Bracketed: somebody outside holds its checkpoint. */
  assurance: 'self-asserted' | 'bracketed'
  /** Parts that have been erased, and are no longer proved. */
  redacted: string[]
  /** Parts that the bundle shows, and that were erased here after its export. */
  erasedSince: string[]
  /** Decision of the policies, where they were only observed: it was allowed all the same. */
  observed?: string
  /** A sentence for each check that is not ok. */
  reasons: string[]
  checks: {
    check:
      | 'form'
      | 'files'
      | 'certificate'
      | 'revocation'
      | 'signature'
      | 'segment'
      | 'openings'
      | 'checkpoint'
      | 'inclusion'
      | 'lanes'
      | 'anchors'
      | 'approval'
      | 'times'
    part: 'all' | 'signature' | 'chain' | 'time'
    result: 'ok' | 'failed' | 'unknown'
    why: string | null
  }[]
}

export interface CancelRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
}

export interface CheckRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId: string
  /** Action type, such as payment.transfer. */
  action: string
  context?: { [member: string]: unknown }
  plan?: { [member: string]: unknown }
  /** An approval to use. */
  approvalId?: string
}

export interface CreateKeyRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  roles: Role[]
  environment?: Environment
  name?: string
  identity?: string
  groups?: string[]
  /** A future time with a time zone. */
  expiresAt?: string
}

/** A new key with its secret. */
export interface CreatedKey {
  /** Names the key; not a secret. */
  id: string
  /** null for admin keys, which reach every tenant. */
  tenantId: string | null
  environment: Environment
  roles: Role[]
  /** Holder of the key; approvals by one identity count once. */
  identity: string | null
  groups: string[]
  name: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** The key that made it, or `host:<uid>`. */
  createdBy: string
  /** UTC, with milliseconds. */
  expiresAt: string | null
  /** UTC, with milliseconds. */
  revokedAt: string | null
  /** The first key of its line, when it came by rotation. */
  rotatedFrom: string | null
  /** Key of another holder that created its secret, or the secret of an earlier key of its line. */
  rotatedBy: string | null
  /** The key that came after it by rotation. */
  replacedBy: string | null
  /** Shown this once. */
  key: string
}

/** The decision and its reason. It is on disk before it is answered. */
export interface Decision {
  /** Only `allow` lets the action run. */
  decision: 'allow' | 'deny' | 'require_approval'
  /** Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow` then. */
  observed?: 'allow' | 'deny' | 'require_approval'
  /** A sentence for people. */
  reason: string
  riskScore: number
  plan: {
    action: string
    validated: boolean
  }
  /** Exports as evidence under this id. */
  decisionId: string
  /** UTC, with milliseconds. */
  timestamp: string
  /** The rule that decided, if one did. */
  rule: string | null
  /** The step of the order of decision that decided. */
  decidedBy:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
  /** Advice about when to ask again. */
  retry: 'never' | 'after_approval' | 'changed_request'
  policyDigest: string | null
  /** The approval that is waited for, or was used. */
  approvalId: string | null
  /** UTC, with milliseconds. */
  approvalExpiresAt: string | null
  /** An allow is good until then. */
  validUntil: string | null
  factors: RiskFactor[]
  unevaluable: Unevaluable[]
  explanation?: Explanation
}

/** Decisions from `at` on, for `bucketMs`. */
export interface DecisionBucket {
  /** UTC, with milliseconds. */
  at: string
  allow: number
  deny: number
  requireApproval: number
}

export interface DecisionCaller {
  /** The key that asked. */
  keyId: string
  /** Holder of the key. */
  identity: string | null
  name: string | null
  roles: string[]
}

/** Decisions, newest first. A page can have fewer than `limit`, none too, while `next` goes on: one request looks at 2,000 entries at most. */
export interface DecisionList {
  items: ListedDecision[]
  /** `before` of the next page: an audit entry; null when nothing is left to look at. */
  next: string | null
  /** Time back to which decisions were searched; null with `next`. */
  searchedTo: string | null
}

/** History of an action: both decisions of an approval have the same one. */
export interface DecisionTimeline {
  /** The one that was asked for. */
  decisionId: string
  /** Null where none was asked for. */
  approval: {
    /** Approval that joins the decisions. */
    id: string
    /** Now; null when it is not there any more. */
    status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'consumed' | null
    /** The decision that asked for it. */
    heldDecisionId: string | null
    /** The decision that used it. */
    usedByDecisionId: string | null
  } | null
  /** In order. */
  items: TimelineItem[]
  /** Number of entries of the approval that are left out, the oldest ones. */
  leftOut: number
}

export interface Denial {
  rule: string | null
  /** The step of the order of decision that decided. */
  decidedBy:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
  count: number
}

/** One fault of a policy set. */
export interface Diagnostic {
  file: string
  line: number
  column: number
  endColumn?: number
  severity: 'error' | 'warning'
  code:
    | 'GATE1001'
    | 'GATE1002'
    | 'GATE1003'
    | 'GATE1004'
    | 'GATE1005'
    | 'GATE1006'
    | 'GATE1007'
    | 'GATE1008'
    | 'GATE1009'
    | 'GATE1010'
    | 'GATE1011'
    | 'GATE1012'
    | 'GATE1013'
    | 'GATE1014'
    | 'GATE1015'
    | 'GATE1016'
    | 'GATE1017'
    | 'GATE1018'
    | 'GATE1019'
    | 'GATE1020'
    | 'GATE1021'
    | 'GATE1022'
    | 'GATE1023'
    | 'GATE1101'
    | 'GATE1102'
    | 'GATE1103'
    | 'GATE1104'
    | 'GATE1105'
    | 'GATE1106'
    | 'GATE1107'
    | 'GATE1108'
    | 'GATE1109'
    | 'GATE1110'
    | 'GATE1111'
    | 'GATE1112'
    | 'GATE1113'
    | 'GATE1114'
    | 'GATE1115'
    | 'GATE1116'
    | 'GATE1117'
    | 'GATE1201'
    | 'GATE1202'
    | 'GATE1203'
    | 'GATE1204'
    | 'GATE1205'
    | 'GATE1206'
    | 'GATE1207'
    | 'GATE1208'
    | 'GATE1209'
    | 'GATE1210'
    | 'GATE1211'
    | 'GATE1212'
    | 'GATE1213'
    | 'GATE1214'
    | 'GATE1215'
    | 'GATE1216'
    | 'GATE1301'
    | 'GATE1302'
    | 'GATE1303'
    | 'GATE1304'
    | 'GATE1305'
    | 'GATE1306'
    | 'GATE1307'
    | 'GATE1308'
    | 'GATE1309'
    | 'GATE1310'
    | 'GATE1311'
    | 'GATE1312'
    | 'GATE1313'
    | 'GATE1314'
    | 'GATE1315'
    | 'GATE1401'
    | 'GATE1402'
    | 'GATE1403'
    | 'GATE1404'
    | 'GATE1405'
    | 'GATE1406'
    | 'GATE1407'
    | 'GATE1408'
    | 'GATE1501'
    | 'GATE1502'
    | 'GATE1503'
    | 'GATE1504'
    | 'GATE1505'
    | 'GATE1506'
    | 'GATE1507'
    | 'GATE1508'
    | 'GATE1509'
    | 'GATE1510'
    | 'GATE2001'
    | 'GATE2002'
    | 'GATE2003'
    | 'GATE2005'
    | 'GATE2006'
    | 'GATE2007'
    | 'GATE2008'
    | 'GATE2009'
    | 'GATE2010'
    | 'GATE2011'
    | 'GATE2012'
    | 'GATE2013'
    | 'GATE2014'
    | 'GATE2015'
    | 'GATE2016'
    | 'GATE2017'
    | 'GATE2018'
    | 'GATE2019'
    | 'GATE2021'
    | 'GATE2022'
    | 'GATE2023'
    | 'GATE2024'
    | 'GATE2025'
    | 'GATE2026'
    | 'GATE2027'
    | 'GATE2028'
    | 'GATE2029'
    | 'GATE2030'
    | 'GATE2031'
    | 'GATE2032'
    | 'GATE2033'
    | 'GATE2034'
    | 'GATE2035'
    | 'GATE2036'
    | 'GATE2037'
    | 'GATE2038'
    | 'GATE2039'
    | 'GATE2040'
    | 'GATE2041'
    | 'GATE2042'
    | 'GATE2050'
    | 'GATE2051'
    | 'GATE2052'
    | 'GATE2101'
    | 'GATE2102'
    | 'GATE2103'
    | 'GATE2104'
    | 'GATE2105'
    | 'GATE2106'
    | 'GATE2107'
    | 'GATE2108'
    | 'GATE2109'
    | 'GATE2110'
    | 'GATE2111'
    | 'GATE2112'
  message: string
  path: string
  suggestion: string | null
  /** The line of the fault, of a long one 400 characters around it; null where no line tells anything. */
  excerpt: string | null
  /** The column of the first character of `excerpt`: the fault stands there behind `column - excerptColumn` UTF-16 units. 1 unless the line was cut before it. */
  excerptColumn: number | null
}

/** Difference between the recorded decision and its reevaluation. */
export interface Difference {
  /** Member of the decision. */
  member: string
  recorded: ShownValue
  again: ShownValue
}

/** Decision that would be made now. It is recorded nowhere. */
export interface DryRun {
  policyDigest: string | null
  /** Decision that would be made, without approvals. */
  verdict: {
    decision: 'allow' | 'deny' | 'require_approval'
    reason: string
    /** The rule that decides, if one does. */
    rule: string | null
    /** The step of the order of decision that decides. */
    decidedBy:
      | 'kill_switch'
      | 'no_policy'
      | 'invalid_context'
      | 'deny_rule'
      | 'risk'
      | 'hold_rule'
      | 'allow_rule'
      | 'default'
      | 'approval'
    /** Advice about when to ask again. */
    retry: 'never' | 'after_approval' | 'changed_request'
    riskScore: number
    factors: RiskFactor[]
    unevaluable: Unevaluable[]
    planValidated: boolean
    explanation: Explanation
  } | null
  /** Faults of the draft: with an error among them there is no verdict. */
  diagnostics: Diagnostic[]
}

export interface DryRunRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Action type, such as payment.transfer. */
  action: string
  context?: { [member: string]: unknown }
  plan?: { [member: string]: unknown }
  /** Requester: the identity of a key, or the id of one that has none. Without it, a requester without earlier decisions. */
  agent?: string
  /** Policies and tests, in any order. */
  files?: PolicyFile[]
  /** The list files that the policies name. */
  lists?: PolicyList[]
}

export interface Envelope {
  payloadType: 'application/vnd.gate-sidecar.trust-bundle.v1+json'
  payload: string
  signatures: {
    keyid: string
    sig: string
  }[]
}

export type Environment = 'live' | 'test'

/** A condition and its result. A `leaf` compares a fact with a value; `all`, `any` and `not` have `conditions`; a `condition` is a named one where it is used, and shows what it stands for the first time in its rule or factor. */
export interface ExplainedCondition {
  kind: 'leaf' | 'all' | 'any' | 'not' | 'condition'
  /** `unknown` if a fact is missing or has the wrong type, or if the comparison takes more work than one check may do. */
  outcome: 'true' | 'false' | 'unknown'
  fact?: string
  operator?: string
  wanted?: ShownValue
  /** Null when the fact is missing and has no default. */
  seen?: {
    value?: unknown
    beginning?: string
    characters?: number
  } | null
  /** The fact was missing: `seen` is its declared default. */
  defaulted?: true
  /** Comparing takes more work than one check may do: the outcome is unknown. */
  overBudget?: true
  name?: string
  /** Policy file, such as `acme/main.yaml`. */
  file?: string
  /** From 1. */
  line?: number
  conditions?: ExplainedCondition[]
  /** Number of its conditions that are not shown. */
  leftOut?: number
}

/** A risk factor about the action. */
export interface ExplainedFactor {
  name: string
  /** `unknown` if a fact is missing or has the wrong type, or if the comparison takes more work than one check may do. */
  outcome: 'true' | 'false' | 'unknown'
  /** The most that it can contribute. */
  weight: number
  contribution: number
  /** Policy file, such as `acme/main.yaml`. */
  file: string
  /** From 1. */
  line: number
  condition?: ExplainedCondition
  /** It adds nothing at `from` or below, the whole weight at `to` or above. */
  scale: {
    fact: string
    from: number
    to: number
    /** A value: whole as `value`, or, where its JSON is long, by its `beginning` and how many `characters` it has. */
    seen: {
      value?: unknown
      beginning?: string
      characters?: number
    } | null
    /** The fact was missing: `seen` is its declared default. */
    defaulted?: true
  } | null
}

/** Result of validating context and plan as declared. */
export interface ExplainedRequest {
  /** The action is declared under `actions`. */
  declared: boolean
  /** It is declared, and context and plan pass. */
  validated: boolean
  /** Fault of context or plan; null when there is none. */
  fault: string | null
}

/** A rule about the action. Without a `condition` it always holds. */
export interface ExplainedRule {
  id: string
  effect: 'allow' | 'deny' | 'require_approval'
  /** `unknown` if a fact is missing or has the wrong type, or if the comparison takes more work than one check may do. */
  outcome: 'true' | 'false' | 'unknown'
  /** A rule of unknown outcome matches where it restrains, and does not where it permits. */
  matches: boolean
  decides: boolean
  /** Policy file, such as `acme/main.yaml`. */
  file: string
  /** From 1. */
  line: number
  condition?: ExplainedCondition
}

/** Rules and risk factors about the action with the values that they saw, in bounded size. */
export interface Explanation {
  /** Domain of the action; null when it is in none. */
  domain: string | null
  /** Reason of the stop that covers the action; null when none does. */
  killSwitch: string | null
  request: ExplainedRequest
  /** Risk scores from which an action needs approval, and is denied. */
  thresholds: {
    requireApproval: number
    deny: number
  } | null
  /** The one that decides first, then those that match. */
  rules: ExplainedRule[]
  /** Number of further ones that are not shown. */
  rulesLeftOut: number
  /** Those that add something first. */
  factors: ExplainedFactor[]
  /** Number of further ones that are not shown. */
  factorsLeftOut: number
}

export interface FailMode {
  situation: string
  behaviour: string
}

export interface Health {
  status: 'ok'
}

/** A key without its secret. */
export interface Key {
  /** Names the key; not a secret. */
  id: string
  /** null for admin keys, which reach every tenant. */
  tenantId: string | null
  environment: Environment
  roles: Role[]
  /** Holder of the key; approvals by one identity count once. */
  identity: string | null
  groups: string[]
  name: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** The key that made it, or `host:<uid>`. */
  createdBy: string
  /** UTC, with milliseconds. */
  expiresAt: string | null
  /** UTC, with milliseconds. */
  revokedAt: string | null
  /** The first key of its line, when it came by rotation. */
  rotatedFrom: string | null
  /** Key of another holder that created its secret, or the secret of an earlier key of its line. */
  rotatedBy: string | null
  /** The key that came after it by rotation. */
  replacedBy: string | null
}

export interface KillSwitch {
  /** Names the stop in the trail. */
  id: string
  level: KillSwitchLevel
  /** L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`. */
  scope: string
  /** UTC, with milliseconds. */
  triggeredAt: string
  triggeredBy: string
  reason: string
}

/** L1 an action, L2 a domain, L3 the tenant, L4 everything. */
export type KillSwitchLevel = 'L1' | 'L2' | 'L3' | 'L4'

/** Effect that a trigger would have. Nothing has been stopped. */
export interface KillSwitchPreview {
  level: KillSwitchLevel
  /** L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`. */
  scope: string
  /** Declared and recently used actions that the stop covers. */
  covers: string[]
  /** Warning that an L1 stop covers none of them, or that the store cannot be written; otherwise null. */
  warning: string | null
  /** Pending approvals that it would cover: they keep their time. */
  approvals: number
  /** Approvals, approved and not used, that it would cancel. */
  cancels: number
  /** There are more open approvals than the 1,000 that were looked at, those with the earliest deadlines. */
  moreApprovals: boolean
  /** True when this key may trigger it. */
  allowed: boolean
  /** Reason why it may not; null when it may. */
  refusal: string | null
}

/** The strongest stop in force; `triggeredAt`, `triggeredBy` and `reason` only while there is one. */
export interface KillSwitchStatus {
  active: boolean
  /** L1 an action, L2 a domain, L3 the tenant, L4 everything. */
  level: 'L1' | 'L2' | 'L3' | 'L4' | null
  /** L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`. */
  scope: string | null
  /** UTC, with milliseconds. */
  triggeredAt?: string
  /** As claimed in the request. */
  triggeredBy?: string
  reason?: string
  /** Every stop in force over the tenant, strongest first. */
  switches: KillSwitch[]
}

/** A decision as a line of a list. */
export interface ListedDecision {
  /** Names it in paths. */
  id: string
  /** UTC, with milliseconds. */
  timestamp: string
  /** Sequence number of its audit entry. */
  seq: number
  /** Id of its audit entry. */
  entryId: string
  action: string | null
  decision: 'allow' | 'deny' | 'require_approval' | null
  /** Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow` then. */
  observed?: 'allow' | 'deny' | 'require_approval'
  shadow?: ShadowNote
  /** The rule that decided, if one did. */
  rule: string | null
  reason: string | null
  riskScore: number | null
  /** The step of the order of decision that decided. */
  decidedBy:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
    | null
  /** Requester: its key's identity, else its key's id. */
  agent: string | null
  /** The key that asked. */
  keyId: string | null
  /** Name of the session, from the fact that the policies declare. */
  session: string | null
  /** Approval that it waited for, or used. */
  approvalId: string | null
  /** True when the decision is not there any more: all but its ids, time and `seq` is null. */
  redacted: boolean
}

/** A key without its secret, and when it was used last. */
export interface ListedKey {
  /** Names the key; not a secret. */
  id: string
  /** null for admin keys, which reach every tenant. */
  tenantId: string | null
  environment: Environment
  roles: Role[]
  /** Holder of the key; approvals by one identity count once. */
  identity: string | null
  groups: string[]
  name: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** The key that made it, or `host:<uid>`. */
  createdBy: string
  /** UTC, with milliseconds. */
  expiresAt: string | null
  /** UTC, with milliseconds. */
  revokedAt: string | null
  /** The first key of its line, when it came by rotation. */
  rotatedFrom: string | null
  /** Key of another holder that created its secret, or the secret of an earlier key of its line. */
  rotatedBy: string | null
  /** The key that came after it by rotation. */
  replacedBy: string | null
  /** Time of the last request with the key; null without one. After a crash, it lags by a minute at most. */
  lastUsedAt: string | null
}

export interface LogRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  eventType: string
  data: { [member: string]: unknown }
  userId?: string
}

export interface OpenedSession {
  /** The key that the session was opened with, or that asks. */
  keyId: string
  name: string | null
  /** Holder of the key: approvals are recorded under this identity. */
  identity: string | null
  /** Principal of votes and requests with the key: its identity, else the first key of its line. */
  principal: string
  groups: string[]
  roles: Role[]
  environment: Environment
  /** Those that `x-tenant-id` may name, at most 1,000. */
  tenants: string[]
  /** The operations that the roles allow. */
  may: Operation[]
  /** Null for a caller with a key. */
  session: {
    /** Names the session in the trail. */
    id: string
    /** UTC, with milliseconds. */
    startedAt: string
    /** End of the session, unless its user does something before. */
    idleEndsAt: string
    /** Latest end of the session. */
    endsAt: string
  } | null
  /** Sent as `x-session-token` with each request of the session, beside the cookie that this answer sets. */
  token: string
}

export type Operation =
  | 'check'
  | 'risk'
  | 'outcome'
  | 'listApprovals'
  | 'getApproval'
  | 'approve'
  | 'reject'
  | 'cancelApproval'
  | 'auditChain'
  | 'auditVerify'
  | 'auditLog'
  | 'getDecision'
  | 'exportBundle'
  | 'verifyBundle'
  | 'killSwitchStatus'
  | 'trigger'
  | 'recover'
  | 'listKeys'
  | 'createKey'
  | 'revokeKey'
  | 'listPolicies'
  | 'validatePolicies'
  | 'reloadPolicies'
  | 'events'
  | 'openSession'
  | 'getSession'
  | 'endSession'
  | 'signInCode'
  | 'rotateKey'
  | 'usage'
  | 'previewStop'
  | 'killSwitchHistory'
  | 'listDecisions'
  | 'decisionTimeline'
  | 'approvalBackground'
  | 'auditVerifyLive'
  | 'overview'
  | 'shadowPolicies'
  | 'policySource'
  | 'dryRun'
  | 'replayPolicies'
  | 'getReplay'
  | 'replayChanges'
  | 'sealReplay'
  | 'exportPolicyChange'
  | 'cancelReplay'

/** Outcome of an action after its decision, as its agent reports it. */
export interface Outcome {
  /** The decision that the action was run on. */
  decisionId: string
  action: string
  decision: 'allow' | 'deny' | 'require_approval'
  /** `failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports outcomes, reported none in time. */
  status: 'succeeded' | 'failed' | 'not_run' | 'missing'
  /** It ran without an allow, or its outcome never came. */
  possibleBypass: boolean
  /** The caller said that it only watches and runs actions whatever is decided. */
  observed: boolean
  durationMs: number | null
  /** As the caller put it; null also where it has been erased. */
  error: string | null
  /** UTC, with milliseconds. */
  recordedAt: string
  /** Id of its audit entry. */
  entryId: string
}

export interface OutcomeRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** The decision that the action was run on. */
  decisionId: string
  status: 'succeeded' | 'failed' | 'not_run'
  /** The caller only observes: it runs every action, whatever the decision. */
  observed?: boolean
  durationMs?: number
  /** Reason why it failed, or was not run. */
  error?: string
}

/** State of the tenant and environment, now and in the last hours. */
export interface Overview {
  /** UTC, with milliseconds. */
  from: string
  /** The end of the newest bucket, which is not over yet. */
  to: string
  bucketMs: number
  /** Time from which on the figures are complete: later than `from` when the chain is too busy, or was pruned. */
  completeFrom: string
  /** Every bucket from `from` to `to`, at most 96. */
  decisions: DecisionBucket[]
  /** Actions since `from` that were allowed only because policies were observed, not enforced. */
  observed: number
  /** Most frequent sources of denials, at most 10. */
  denials: Denial[]
  /** Number of further rules and steps that denied something. */
  denialsLeftOut: number
  approvals: ApprovalFigures
  /** Latency of the newest 1000 calls of POST /gate/check that this process has answered, of all tenants, without the time spent waiting for people; null before the first. */
  latency: {
    count: number
    p50Ms: number
    p99Ms: number
  } | null
  audit: AuditFigures
  posture: Posture
  /** Sidecars that share the store; null for a data file. */
  fleet: {
    /** Number of live sidecars. */
    live: number
    /** Live sidecars first; dead ones for an hour, unless another takes their lane. At most 200. */
    sidecars: Sidecar[]
    sidecarsLeftOut: number
    /** Live sidecars by the digest of the tenant's policies in force there; null without any. */
    policies: SidecarsByDigest[]
    /** Live sidecars by version. */
    versions: SidecarsByVersion[]
  } | null
}

export interface PastDecision {
  /** As it was answered. */
  id: string
  /** UTC, with milliseconds. */
  timestamp: string
  action: string
  decision: 'allow' | 'deny' | 'require_approval'
  riskScore: number
  /** Outcome of the action; null while nothing is known. */
  outcome: 'succeeded' | 'failed' | 'not_run' | 'missing' | null
}

/** A stop that is or was in force; members about its end are null until then. */
export interface PastKillSwitch {
  /** Names the stop in the trail. */
  id: string
  level: KillSwitchLevel
  /** L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`. */
  scope: string
  /** UTC, with milliseconds. */
  triggeredAt: string
  triggeredBy: string
  reason: string
  /** UTC, with milliseconds. */
  recoveredAt: string | null
  /** As claimed in the request. */
  recoveredBy: string | null
  /** Comment given when it was ended. */
  comment: string | null
  /** Time during which it was in force. */
  durationMs: number | null
}

export interface PolicyChange {
  bundleId: string
  version: '1.0'
  kind: 'policy-change'
  tenantId: string
  policyDigest: string
  exportedAt: string
  entries: {
    header: {
      chain: string
      commits: { [member: string]: string }
      id: string
      prev: string
      seq: number
      ts: string
      type: string
      v: 1
    }
    actor: {
      salt: string
      value: { [member: string]: unknown }
    }
    data: {
      salt: string
      value: { [member: string]: unknown }
    }
    inclusion: string[]
  }[]
  leftOut: number
  proof: {
    v: 1
    origin: string
    checkpoint: string
    certificate: {
      statement: {
        origin: string
        purpose: 'bundle'
        publicKey: string
        notBefore: string
        notAfter: string
      }
      signedBy: string
      signature: string
    }
    rotations: {
      statement: {
        origin: string
        from: string
        to: string
        at: string
      }
      signatures: {
        from: string
        to: string
      }
    }[]
  }
  signatures: {
    service: {
      algorithm: string
      publicKey: string
      signature: string
    }
  }
}

export interface PolicyFile {
  /** As in the folder of the tenant: `main.yaml`. */
  name: string
  /** The content of the file. */
  text: string
}

export interface PolicyList {
  /** As a policy writes it: `lists/sanctioned.txt`. */
  path: string
  /** The content of the list file. */
  text: string
}

/** The policy set in force, and what is wrong with the newest files. */
export interface PolicyState {
  digest: string | null
  /** `observe`: the policies decide and record, and every action is allowed. */
  mode: 'enforce' | 'observe' | null
  /** UTC, with milliseconds. */
  loadedAt: string | null
  files: string[]
  rules: number
  factors: number
  domains: string[]
  actions: string[]
  /** False when the newest files have faults, or there are none. */
  current: boolean
  /** False when folders are read only when someone asks for it. */
  watching: boolean
  /** UTC, with milliseconds. */
  checkedAt: string | null
  /** Reasons why the newest files are not in force. */
  faults: string[]
  diagnostics: Diagnostic[]
  /** Approver groups of the set in force that no active key belongs to: such holds wait until they expire. */
  groupsWithoutKeys: string[]
}

/** Files and lists of the policy set in force; none without a set. */
export interface PolicyTexts {
  digest: string | null
  /** The policy files, in the order in which they are read. */
  files: {
    name: string
    bytes: number
    /** Null of a file with which the texts would exceed 8 MiB. */
    text: string | null
  }[]
  lists: {
    /** As the policy writes it. */
    path: string
    bytes: number
  }[]
  /** Diagnostics of the newest files, which may differ from these. */
  diagnostics: Diagnostic[]
}

/** The policy set as it would be, and its faults. */
export interface PolicyValidation {
  /** True when no diagnostic is an error. */
  valid: boolean
  digest: string | null
  /** The policy files, in the order in which they are read. */
  files: string[]
  /** 0 unless valid. */
  rules: number
  /** 0 unless valid. */
  factors: number
  diagnostics: Diagnostic[]
}

/** Enforcement that is in force now. */
export interface Posture {
  policies: {
    inForce: boolean
    digest: string | null
    /** `observe`: the policies decide and record, and every action is allowed. */
    mode: 'enforce' | 'observe' | null
    /** UTC, with milliseconds. */
    loadedAt: string | null
    /** False when the newest files have faults, or there are none. */
    current: boolean
    faults: number
  }
  killSwitch: {
    active: boolean
    /** L1 an action, L2 a domain, L3 the tenant, L4 everything. */
    level: 'L1' | 'L2' | 'L3' | 'L4' | null
    scope: string | null
  }
  environment: Environment
  version: string
  /** False when policies are read only when someone asks for it. */
  watching: boolean
  /** Behaviour where something is missing or broken, in sentences. */
  failModes: FailMode[]
}

export interface PreviewStopRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  level: KillSwitchLevel
  /** L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none. */
  scope?: string
}

export interface RangeVerification {
  valid: boolean
  /** `ok`: all entries follow one another, and an external anchor has all of them. `unanchored`: all entries follow one another; for those that are in no external anchor yet, only this service vouches. `empty`: there is no entry, and the entries on both sides follow one another. `tampered`: the content of an entry was changed, or the tree is not the signed one. `broken-link`: an entry is missing, or does not follow from the one before it. `unsealed`: the newest entries were not appended by the holder of the log key. `unsigned`: entries are unsigned for longer than a running service leaves them, and the log key is not available. `truncated`: signed entries are missing at the start or the end. `pruned`: the range begins before the oldest entry that is left; what is left of it follows. `unlawful`: an entry records something that was not permitted; the entry itself is intact and signed. `forked`: an anchor holds another history. `rollback`: an anchor holds more entries than there are. */
  status:
    | 'ok'
    | 'unanchored'
    | 'empty'
    | 'tampered'
    | 'broken-link'
    | 'unsealed'
    | 'unsigned'
    | 'truncated'
    | 'pruned'
    | 'unlawful'
    | 'forked'
    | 'rollback'
  entriesChecked: number
  /** Empty for an empty range. */
  firstEntry: string
  /** Empty for an empty range. */
  lastEntry: string
  /** The first fault. */
  fault: string | null
  firstBadSeq: number | null
  /** The chain of that entry: of the tenant, a lane, or `_system`. */
  firstBadChain: string | null
  /** Entries that record something that was not permitted, besides any other fault. */
  unlawfulEntries: number
  /** Entries of the range with a section that was erased by a command. */
  redactedEntries: number
  /** Entries of the range that no anchor holds. */
  unanchoredEntries: number
  /** Entries of the range after the newest checkpoint that counts. */
  unsignedEntries: number
  /** Number of entries, from the first one on, that it covers. */
  signedEntries: number
  /** Number of entries, from the first one on, that an anchor covers. */
  anchoredEntries: number
  /** Whether the holder of the log key appended the newest entry; null without the key. */
  sealed: boolean | null
}

export interface Readiness {
  ready: boolean
  /** Sets whose newest files have faults. */
  policySetsOutdated: number
  /** Last verification of all audit chains by the service; null before the first. */
  verified: {
    /** UTC, with milliseconds. */
    at: string
    valid: boolean
    chains: number
  } | null
  anchors: {
    /** Entries of the trail that no anchor covers; null without a sink. */
    unanchoredEntries: number | null
    sinks: {
      sink: 'file' | 'webhook'
      /** False if the last attempt failed. */
      ok: boolean
      /** UTC, with milliseconds. */
      lastAt: string | null
      failure: string | null
    }[]
  }
}

/** Record of a decision and its explanation: evaluated again by the policies that decided. */
export interface RecordedDecision {
  /** As it was answered. */
  id: string
  /** UTC, with milliseconds. */
  timestamp: string
  action: string
  decision: 'allow' | 'deny' | 'require_approval'
  /** Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow` then. */
  observed?: 'allow' | 'deny' | 'require_approval'
  shadow?: ShadowNote
  reason: string
  /** The rule that decided, if one did. */
  rule: string | null
  /** The step of the order of decision that decided. */
  decidedBy:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
  /** Advice about when to ask again. */
  retry: 'never' | 'after_approval' | 'changed_request'
  riskScore: number
  factors: RiskFactor[]
  unevaluable: Unevaluable[]
  planValidated: boolean
  policyDigest: string | null
  /** UTC, with milliseconds. */
  evaluatedAt: string
  caller: DecisionCaller
  /** As it came; null when it has been erased. */
  request: { [member: string]: unknown } | null
  /** With its status now. */
  approval: {
    /** Approval that it waited for, or used. */
    id: string
    status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'consumed' | null
  } | null
  /** Outcome of the action; null while nothing is known. */
  outcome: {
    /** `failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports outcomes, reported none in time. */
    status: 'succeeded' | 'failed' | 'not_run' | 'missing'
    /** It ran without an allow, or its outcome never came. */
    possibleBypass: boolean
    /** The caller said that it only watches and runs actions whatever is decided. */
    observed: boolean
    durationMs: number | null
    /** As the caller put it; null also where it has been erased. */
    error: string | null
    /** UTC, with milliseconds. */
    recordedAt: string
    /** Id of its audit entry. */
    entryId: string
  } | null
  chain: string
  seq: number
  /** Id of its audit entry. */
  entryId: string
  hash: string
  previousHash: string
  /** The entry hashes to what it did, and joins its neighbours. */
  verified: boolean
  /** Fault of the entry; null without one. */
  fault: string | null
  /** Rules and risk factors about the action with the values that they saw, in bounded size. */
  explanation: {
    /** Domain of the action; null when it is in none. */
    domain: string | null
    /** Reason of the stop that covers the action; null when none does. */
    killSwitch: string | null
    request: ExplainedRequest
    /** Risk scores from which an action needs approval, and is denied. */
    thresholds: {
      requireApproval: number
      deny: number
    } | null
    /** The one that decides first, then those that match. */
    rules: ExplainedRule[]
    /** Number of further ones that are not shown. */
    rulesLeftOut: number
    /** Those that add something first. */
    factors: ExplainedFactor[]
    /** Number of further ones that are not shown. */
    factorsLeftOut: number
  } | null
  /** The policies that decided give the same again; null when it cannot be explained. */
  reproduced: boolean | null
  differences: Difference[]
  /** Reason why it cannot be explained. */
  unexplained: {
    code: 'redacted' | 'policy_not_kept' | 'policy_altered' | 'policy_unloadable'
    message: string
  } | null
}

export interface RecoverRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Id of the stop to end: a stop that has replaced it stays in force. */
  id?: string
  level?: KillSwitchLevel
  /** L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none. */
  scope?: string
  recoveredBy: string
  comment: string
}

export interface RejectRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  approverId: string
  reason?: string
}

export interface ReloadPoliciesRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
}

/** A replay of a draft, with its progress and its result. */
export interface Replay {
  /** Id of the replay. */
  id: string
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  /** UTC, with milliseconds. */
  createdAt: string
  /** UTC, with milliseconds. */
  from: string
  /** UTC, with milliseconds. */
  to: string | null
  history: 'recorded' | 'draft'
  action: string | null
  sample: number | null
  /** Entries of the trail read so far. */
  read: number
  /** Entries to be read; 0 before the draft is compiled. */
  total: number
  policyDigest: string | null
  diagnostics: Diagnostic[]
  /** Reason of a failure. */
  fault: string | null
  /** Differences between the recorded decisions and those of a draft. */
  report: {
    /** Requests that were decided again. */
    decided: number
    /** Requests of which the draft decides otherwise. */
    changed: number
    /** Decisions of stops, which no policy changes. */
    stopped: number
    /** Requests that cannot be decided again, by reason. */
    unknown: {
      /** the request, or one that its policies count, has been erased */
      erased: number
      /** its policies count actions of a time that has been pruned, or that was not read */
      pruned: number
    }
    /** Decided by what is left of a session. */
    assumed: number
    matrix: {
      /** The decision that was recorded; `none` where only the request was. */
      from: 'allow' | 'deny' | 'require_approval' | 'none'
      to: 'allow' | 'deny' | 'require_approval'
      count: number
    }[]
    /** Other decisions first, then other grounds, each by number. */
    kinds: ReplayKind[]
    /** Requests of further kinds. */
    kindsLeftOut: number
    rules: {
      rule: string
      before: number
      after: number
    }[]
    factors: {
      name: string
      before: number
      after: number
      changed: number
    }[]
    scores: {
      higher: number
      lower: number
      same: number
      meanBefore: number | null
      meanAfter: number | null
    }
    unevaluable: {
      decisions: number
      facts: {
        fact: string
        of: string[]
        count: number
        first: string
      }[]
    }
    /** Changed decisions that are counted and not listed. */
    changesLeftOut: number
  } | null
  /** The entry `policy.replayed` that tells of it. */
  seal: {
    /** Id of the entry. */
    entryId: string
    /** SHA-256 of `report`, as canonical JSON (RFC 8785). */
    report: string
  } | null
}

/** A request that the draft decides otherwise. */
export interface ReplayChange {
  /** Id of the decision. */
  id: string
  /** UTC, with milliseconds. */
  timestamp: string
  action: string
  agent: string
  from: ReplaySide
  to: ReplaySide
  /** The session may have begun before what the trail still has. */
  assumed: boolean
  /** Rules and risk factors about the action with the values that they saw, in bounded size. */
  before: {
    /** Domain of the action; null when it is in none. */
    domain: string | null
    /** Reason of the stop that covers the action; null when none does. */
    killSwitch: string | null
    request: ExplainedRequest
    /** Risk scores from which an action needs approval, and is denied. */
    thresholds: {
      requireApproval: number
      deny: number
    } | null
    /** The one that decides first, then those that match. */
    rules: ExplainedRule[]
    /** Number of further ones that are not shown. */
    rulesLeftOut: number
    /** Those that add something first. */
    factors: ExplainedFactor[]
    /** Number of further ones that are not shown. */
    factorsLeftOut: number
  } | null
  /** Rules and risk factors about the action with the values that they saw, in bounded size. */
  after: {
    /** Domain of the action; null when it is in none. */
    domain: string | null
    /** Reason of the stop that covers the action; null when none does. */
    killSwitch: string | null
    request: ExplainedRequest
    /** Risk scores from which an action needs approval, and is denied. */
    thresholds: {
      requireApproval: number
      deny: number
    } | null
    /** The one that decides first, then those that match. */
    rules: ExplainedRule[]
    /** Number of further ones that are not shown. */
    rulesLeftOut: number
    /** Those that add something first. */
    factors: ExplainedFactor[]
    /** Number of further ones that are not shown. */
    factorsLeftOut: number
  } | null
}

/** Decisions that change in the same way. */
export interface ReplayKind {
  /** Grounds then. */
  from: {
    /** The decision that was recorded; `none` where only the request was. */
    decision: 'allow' | 'deny' | 'require_approval' | 'none'
    decidedBy:
      | 'kill_switch'
      | 'no_policy'
      | 'invalid_context'
      | 'deny_rule'
      | 'risk'
      | 'hold_rule'
      | 'allow_rule'
      | 'default'
      | 'approval'
      | null
    rule: string | null
  }
  /** Grounds of the draft. */
  to: {
    /** The decision that was recorded; `none` where only the request was. */
    decision: 'allow' | 'deny' | 'require_approval' | 'none'
    decidedBy:
      | 'kill_switch'
      | 'no_policy'
      | 'invalid_context'
      | 'deny_rule'
      | 'risk'
      | 'hold_rule'
      | 'allow_rule'
      | 'default'
      | 'approval'
      | null
    rule: string | null
  }
  count: number
  first: ReplayChange
}

export interface ReplayPoliciesRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Policies and tests, in any order. */
  files: PolicyFile[]
  /** The list files that the policies name. */
  lists?: PolicyList[]
  /** Requests from this time on; without it, those of the last 24 hours. */
  from?: string
  /** Requests before this time. */
  to?: string
  /** Only this action, or those of a glob: `payment.*`. */
  action?: string
  /** About this number of requests, evenly spread. */
  sample?: number
  /** Earlier actions that facts over time count: those that were allowed, or those that the draft would have allowed. `recorded` without it. */
  history?: 'recorded' | 'draft'
}

/** One side of a comparison; null where no decision was recorded. */
export interface ReplaySide {
  /** The decision that was recorded; `none` where only the request was. */
  decision: 'allow' | 'deny' | 'require_approval' | 'none'
  decidedBy:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
    | null
  rule: string | null
  reason: string | null
  riskScore: number | null
}

/** The sum of the factors, without a decision. */
export interface RiskAssessment {
  score: number
  factors: RiskFactor[]
}

/** One factor of a risk score, in points. */
export interface RiskFactor {
  name: string
  /** The most that it can contribute. */
  weight: number
  contribution: number
}

export interface RiskRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Action type, such as payment.transfer. */
  action: string
  context?: { [member: string]: unknown }
  plan?: { [member: string]: unknown }
}

export type Role = 'agent' | 'approver' | 'auditor' | 'operator' | 'owner' | 'admin'

export interface RotateKeyRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Minutes during which the old secret still works, at most 30 days; 0 ends it now. 1440 (a day) if not given. */
  overlapMinutes?: number
}

/** A new key with its secret, and the one that it replaces. */
export interface RotatedKey {
  /** Names the key; not a secret. */
  id: string
  /** null for admin keys, which reach every tenant. */
  tenantId: string | null
  environment: Environment
  roles: Role[]
  /** Holder of the key; approvals by one identity count once. */
  identity: string | null
  groups: string[]
  name: string | null
  /** UTC, with milliseconds. */
  createdAt: string
  /** The key that made it, or `host:<uid>`. */
  createdBy: string
  /** UTC, with milliseconds. */
  expiresAt: string | null
  /** UTC, with milliseconds. */
  revokedAt: string | null
  /** The first key of its line, when it came by rotation. */
  rotatedFrom: string | null
  /** Key of another holder that created its secret, or the secret of an earlier key of its line. */
  rotatedBy: string | null
  /** The key that came after it by rotation. */
  replacedBy: string | null
  /** Shown this once. */
  key: string
  replaces: Key
}

/** The set in shadow, and what it says; absent where none was. */
export interface ShadowNote {
  digest: string
  /** Its decision, where that differs. */
  decision?: 'allow' | 'deny' | 'require_approval'
  decidedBy?:
    | 'kill_switch'
    | 'no_policy'
    | 'invalid_context'
    | 'deny_rule'
    | 'risk'
    | 'hold_rule'
    | 'allow_rule'
    | 'default'
    | 'approval'
  rule?: string | null
  /** Reason why it said nothing. */
  failed?: 'error' | 'work' | 'time'
}

/** The set in shadow, which is asked beside the one in force. */
export interface ShadowState {
  digest: string | null
  /** `folder`: a folder of its own; `rules`: the set in force, with its rules in shadow enforced. */
  origin: 'folder' | 'rules' | null
  /** Time at which it came into shadow. */
  since: string | null
  /** Rules of the set in force that are in shadow, where no folder is. */
  rules: string[]
  /** Decisions of a trail, and of the set in shadow. */
  comparison: {
    /** Decisions that it was asked about. */
    decisions: number
    /** Without empty cells. */
    matrix: {
      /** The decision. */
      from: 'allow' | 'deny' | 'require_approval'
      /** Decision of the set in shadow. */
      to: 'allow' | 'deny' | 'require_approval'
      count: number
    }[]
    /** Decisions on which it said nothing, by the cause. */
    failed: {
      why: 'error' | 'work' | 'time'
      count: number
    }[]
    /** False while a long trail is still counted: the next answer has more of it. */
    complete: boolean
  } | null
  /** Reasons why the folder gives no set. */
  faults: string[]
  diagnostics: Diagnostic[]
}

/** A value: whole as `value`, or, where its JSON is long, by its `beginning` and how many `characters` it has. */
export interface ShownValue {
  value?: unknown
  beginning?: string
  characters?: number
}

export interface Sidecar {
  /** Number of the lanes to which it appends. */
  lane: number
  /** Name of its host or pod, or what the setting `name` says; text of others. */
  name: string
  version: string
  /** UTC, with milliseconds. */
  startedAt: string
  /** UTC, with milliseconds. */
  heardAt: string
  /** False once it has not been heard of for ten seconds, and once it has ended. */
  isLive: boolean
  /** True for the one that answers. */
  isSelf: boolean
  policyDigest: string | null
}

export interface SidecarsByDigest {
  digest: string | null
  sidecars: number
}

export interface SidecarsByVersion {
  version: string
  sidecars: number
}

export interface SignInLink {
  /** The web console, with the code in the fragment, which browsers do not send. */
  url: string
  /** UTC, with milliseconds. */
  expiresAt: string
}

/** The caller, and what it may do. */
export interface SignedIn {
  /** The key that the session was opened with, or that asks. */
  keyId: string
  name: string | null
  /** Holder of the key: approvals are recorded under this identity. */
  identity: string | null
  /** Principal of votes and requests with the key: its identity, else the first key of its line. */
  principal: string
  groups: string[]
  roles: Role[]
  environment: Environment
  /** Those that `x-tenant-id` may name, at most 1,000. */
  tenants: string[]
  /** The operations that the roles allow. */
  may: Operation[]
  /** Null for a caller with a key. */
  session: {
    /** Names the session in the trail. */
    id: string
    /** UTC, with milliseconds. */
    startedAt: string
    /** End of the session, unless its user does something before. */
    idleEndsAt: string
    /** Latest end of the session. */
    endsAt: string
  } | null
}

/** Event of an action, as one audit entry records it. */
export interface TimelineItem {
  /** UTC, with milliseconds. */
  at: string
  seq: number
  /** Id of the audit entry that records it. */
  entryId: string
  event:
    | 'gate.decision'
    | 'approval.requested'
    | 'approval.approved'
    | 'approval.rejected'
    | 'approval.expired'
    | 'approval.cancelled'
    | 'approval.consumed'
    | 'outcome.recorded'
    | 'outcome.missing'
  /** Actor that caused an entry. */
  actor: {
    kind: 'key' | 'host' | 'service'
    /** Id of the key, of the user on the host, or of the service. */
    id: string
    /** Holder of the key. */
    identity: string | null
    /** Name of the key. */
    name: string | null
  } | null
  /** The decision that it is, that asked for or used the approval, or whose outcome it is. */
  decisionId: string | null
  /** Decision of `gate.decision`; null for other events, and where it is not there any more. */
  decision: {
    action: string
    decision: 'allow' | 'deny' | 'require_approval'
    /** Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow` then. */
    observed?: 'allow' | 'deny' | 'require_approval'
    reason: string
    rule: string | null
    /** The step of the order of decision that decided. */
    decidedBy:
      | 'kill_switch'
      | 'no_policy'
      | 'invalid_context'
      | 'deny_rule'
      | 'risk'
      | 'hold_rule'
      | 'allow_rule'
      | 'default'
      | 'approval'
    riskScore: number
  } | null
  /** Terms of the approval, for `approval.requested`. */
  hold: {
    requestedBy: string
    quorum: number
    /** UTC, with milliseconds. */
    expiresAt: string
  } | null
  /** Vote of `approval.approved` or `approval.rejected`. */
  vote: {
    principal: string
    approverId: string
    comment: string | null
  } | null
  /** Status of the approval after this entry: a vote that does not decide leaves it pending. */
  approvalStatus: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'consumed' | null
  /** Stop that cancelled the approval, for `approval.cancelled`; null where a person did. */
  stop: {
    /** Id of the stop. */
    id: string
    level: KillSwitchLevel
    scope: string
  } | null
  /** Outcome of `outcome.recorded` or `outcome.missing`. */
  outcome: {
    /** `failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports outcomes, reported none in time. */
    status: 'succeeded' | 'failed' | 'not_run' | 'missing'
    /** It ran without an allow, or its outcome never came. */
    possibleBypass: boolean
    /** The caller said that it only watches and runs actions whatever is decided. */
    observed: boolean
    durationMs: number | null
    /** As the caller put it; null also where it has been erased. */
    error: string | null
    /** UTC, with milliseconds. */
    recordedAt: string
    /** Id of its audit entry. */
    entryId: string
  } | null
}

export interface TriggerRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  level: KillSwitchLevel
  /** L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none. */
  scope?: string
  reason: string
  triggeredBy: string
}

/** The status after the trigger, and what the stop covers. */
export interface TriggeredKillSwitch {
  active: boolean
  /** L1 an action, L2 a domain, L3 the tenant, L4 everything. */
  level: 'L1' | 'L2' | 'L3' | 'L4' | null
  /** L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`. */
  scope: string | null
  /** UTC, with milliseconds. */
  triggeredAt?: string
  /** As claimed in the request. */
  triggeredBy?: string
  reason?: string
  /** Every stop in force over the tenant, strongest first. */
  switches: KillSwitch[]
  /** Declared and recently used actions that the stop covers. */
  covers: string[]
  /** Warning that an L1 stop covers none of them, or that the store cannot be written; otherwise null. */
  warning: string | null
  /** False while the store cannot be written: the stop is in force, and writing is retried each second. `warning` says whether the stop outlives a restart. */
  persisted: boolean
}

export interface TrustBundle {
  bundleId: string
  version: string
  decision: {
    id: string
    action: string
    decision: string
    timestamp: string
  }
  context: {
    originalRequest: { [member: string]: unknown }
    riskAssessment: { [member: string]: unknown }
  }
  auditChain: {
    hash: string
    previousHash: string
  }[]
  exportedAt: string
  proof: {
    v: 1
    origin: string
    entries: {
      chain: string
      commits: { [member: string]: string }
      id: string
      prev: string
      seq: number
      ts: string
      type: string
      v: 1
    }[]
    inclusion: string[]
    checkpoint: string
    grounds: { [member: string]: unknown }
    openings: {
      decision: string
      grounds: string
      request?: string
      risk?: string
    }
    approval: {
      header: {
        chain: string
        commits: { [member: string]: string }
        id: string
        prev: string
        seq: number
        ts: string
        type: string
        v: 1
      }
      data: { [member: string]: unknown }
      salt: string
      inclusion: string[]
    }[]
    keys: {
      header: {
        chain: string
        commits: { [member: string]: string }
        id: string
        prev: string
        seq: number
        ts: string
        type: string
        v: 1
      }
      data: { [member: string]: unknown }
      salt: string
      inclusion: string[]
    }[]
    beside: string[]
    certificate: {
      statement: {
        origin: string
        purpose: 'bundle'
        publicKey: string
        notBefore: string
        notAfter: string
      }
      signedBy: string
      signature: string
    }
    rotations: {
      statement: {
        origin: string
        from: string
        to: string
        at: string
      }
      signatures: {
        from: string
        to: string
      }
    }[]
    redacted: string[]
  }
  signatures: {
    service: {
      algorithm: string
      publicKey: string
      signature: string
    }
  }
}

/** A rule or factor that could not be evaluated: rules that restrain apply, those that permit do not. */
export interface Unevaluable {
  /** Kind of what could not be evaluated. */
  kind: 'rule' | 'factor'
  name: string
  /** The facts that were missing or of another type. */
  facts: string[]
  /** The facts whose comparison takes more work than one check may do. */
  overBudget?: string[]
}

/** The tenant's plan, and what is used of it in the environment of the key. */
export interface Usage {
  plan: 'free' | 'pro' | 'enterprise'
  environment: Environment
  /** Requests that the plan allows; null for no limit. */
  requestsPerMinute: number | null
  /** Remaining requests, as counted by this process; null for no limit. */
  remaining: number | null
  /** Status reads that each key may make. */
  statusRequestsPerMinute: number
  /** Keys of this environment; revoked or expired ones have ended. */
  keys: {
    active: number
    ended: number
  }
}

export interface ValidatePoliciesRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** Policies and tests, in any order. */
  files: PolicyFile[]
  /** The list files that the policies name. */
  lists?: PolicyList[]
}

export interface VerifyBundleRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  bundle: { [member: string]: unknown }
}

export interface VerifyRequest {
  /** Must be the tenant of x-tenant-id. */
  tenantId?: string
  /** YYYY-MM-DD, UTC */
  startDate: string
  /** YYYY-MM-DD, UTC */
  endDate: string
}

export interface Vote {
  /** The voting key's identity, else its id: what is counted. */
  principal: string
  /** As the voter claimed it. */
  approverId: string
  comment: string | null
  /** UTC, with milliseconds. */
  votedAt: string
  /** True for a vote that counts towards the quorum. While the approval is open, a vote no longer counts when its key has ended or was made by another voter's key. Once it is settled, one vote of each person for it counts. A vote that rejects does not count. */
  counts: boolean
}

export interface Failure {
  success: false
  /** Error code that clients switch on. */
  error:
    | 'invalid_request'
    | 'invalid_json'
    | 'not_requestable'
    | 'invalid_denial_binding'
    | 'unauthenticated'
    | 'forbidden'
    | 'origin_not_allowed'
    | 'tenant_mismatch'
    | 'approver_mismatch'
    | 'self_approval'
    | 'not_found'
    | 'method_not_allowed'
    | 'approval_not_pending'
    | 'approval_expired'
    | 'kill_switch_active'
    | 'kill_switch_inactive'
    | 'idempotency_conflict'
    | 'outcome_conflict'
    | 'expired_denial'
    | 'archived'
    | 'redacted'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'host_not_allowed'
    | 'rate_limited'
    | 'internal'
    | 'audit_unavailable'
    | 'overloaded'
    | 'not_ready'
  /** A sentence for people. */
  message: string
  /** Faults of the request, each with its place. */
  details?: {
    /** A JSON pointer. */
    path: string
    message: string
  }[]
  requestId: string
}

/** Position of the page: the next one begins at `offset + limit`. A page of large items ends early, and `limit` says so. */
export interface Page {
  limit: number
  offset: number
  total: number
}

/** Input and output of each route, by its name. */
export interface Api {
  /** Decides an action; a repeated request uses its approval, `?wait=25` waits for it, `?explain=1` says why. */
  check: {
    query: {
      /** Seconds to wait until the approval has been decided, at most 25. */
      wait?: number
      /** 1 adds `explanation` to a new decision. Policies with `explain: reason` give none, and neither does a decision that an Idempotency-Key repeats. */
      explain?: number
    }
    body: CheckRequest
    data: Decision
  }
  /** Score and factors, no decision. */
  risk: {
    body: RiskRequest
    data: RiskAssessment
  }
  /** Reports the outcome of an action after its decision: `succeeded`, `failed`, `not_run`. */
  outcome: {
    body: OutcomeRequest
    data: Outcome
  }
  /** Pending approvals; `status`, `limit`, `offset`. */
  listApprovals: {
    query: {
      /** Limit of items in the answer; a larger one is clamped. */
      limit?: number
      /** Number of items to skip. */
      offset?: number
      /** Pending ones without it. */
      status?: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled' | 'consumed'
    }
    data: Approval[]
    page: Page
  }
  /** One approval; `?wait=25` waits until it is decided. */
  getApproval: {
    params: { id: string }
    query: {
      /** Seconds to wait until the approval has been decided, at most 25. */
      wait?: number
    }
    data: Approval
  }
  /** Votes for a held request. */
  approve: {
    params: { id: string }
    body: ApproveRequest
    data: Approval
  }
  /** Ends a held request. */
  reject: {
    params: { id: string }
    body: RejectRequest
    data: Approval
  }
  /** Takes back an approval that was not used. */
  cancelApproval: {
    params: { id: string }
    body: CancelRequest
    data: Approval
  }
  /** Entries, newest first; `limit`, `offset`, `before`, `order`, `eventType`, `from`, `to`. */
  auditChain: {
    query: {
      /** Limit of items in the answer; a larger one is clamped. */
      limit?: number
      /** Number of items to skip. */
      offset?: number
      /** Newest first without it. */
      order?: 'asc' | 'desc'
      /** Only entries before this place of the trail: the id of an entry, or `<chain>:<seq>`. */
      before?: string
      /** Only entries of this type. */
      eventType?: string
      /** From this time on. */
      from?: string
      /** Before this time. */
      to?: string
    }
    data: AuditEntry[]
    page: Page
  }
  /** Recomputes the chain over a range of days. */
  auditVerify: {
    body: VerifyRequest
    data: RangeVerification
  }
  /** Like the POST, with its progress as server-sent events. */
  auditVerifyLive: {
    query: {
      /** YYYY-MM-DD, UTC */
      startDate?: string
      /** YYYY-MM-DD, UTC */
      endDate?: string
    }
    data: string
  }
  /** Writes an entry of the caller's own. */
  auditLog: {
    body: LogRequest
    data: AuditEntry
  }
  /** A recorded decision, explained by the policies that decided. */
  getDecision: {
    params: { id: string }
    data: RecordedDecision
  }
  /** Signed trust bundle of a decision. */
  exportBundle: {
    params: { id: string }
    query: {
      /** An envelope of DSSE in place of the bundle. */
      format?: 'bundle' | 'dsse'
    }
    data: TrustBundle | Envelope
  }
  /** Verifies a bundle or a policy change; needs no `x-tenant-id`. */
  verifyBundle: {
    body: VerifyBundleRequest
    data: BundleVerification
  }
  /** The strongest stop, and all of them. */
  killSwitchStatus: {
    data: KillSwitchStatus
  }
  /** Stops an action (L1), a domain (L2), the tenant (L3), everything (L4, admin only). */
  trigger: {
    body: TriggerRequest
    data: TriggeredKillSwitch
  }
  /** Ends a stop. */
  recover: {
    body: RecoverRequest
    data: KillSwitchStatus
  }
  /** Keys, without secrets. */
  listKeys: {
    data: ListedKey[]
  }
  /** Makes a key; its secret is in this answer only. */
  createKey: {
    body: CreateKeyRequest
    data: CreatedKey
  }
  /** Ends a key. */
  revokeKey: {
    params: { id: string }
    data: Key
  }
  /** The policy set in force, and the faults of the newest files. */
  listPolicies: {
    data: PolicyState
  }
  /** Every fault of policies that are sent as texts; opens no file and keeps nothing. */
  validatePolicies: {
    body: ValidatePoliciesRequest
    data: PolicyValidation
  }
  /** Reads the tenant's folder now, and answers with the result. */
  reloadPolicies: {
    body?: ReloadPoliciesRequest
    data: PolicyState
  }
  /** Approvals, decisions, stops and policies as they come (server-sent events), by role; `Last-Event-ID`. */
  events: {
    data: string
  }
  /** This interface as an OpenAPI 3.1 document. */
  openapi: {
    data: { [member: string]: unknown }
  }
  /** The process answers. */
  healthz: {
    data: Health
  }
  /** The store answers and takes writes, the trail is good, stops are on disk, policies are in force. */
  readyz: {
    data: Readiness
  }
  /** Figures for Prometheus; from another machine with a key of an auditor or operator. */
  metrics: {
    data: string
  }
  /** Signs a browser in, with a key or the code of a sign-in link (`x-sign-in-code`). */
  openSession: {
    data: OpenedSession
  }
  /** The caller, its tenants, and the routes that it may call. */
  getSession: {
    data: SignedIn
  }
  /** Signs a browser out. */
  endSession: {
    data: SignedIn
  }
  /** A link by which a browser is signed in with this key, once within five minutes. */
  signInCode: {
    data: SignInLink
  }
  /** Replaces a key by a new one of the same holder; its secret is in this answer only. */
  rotateKey: {
    params: { id: string }
    body?: RotateKeyRequest
    data: RotatedKey
  }
  /** The tenant's plan, and what is used of it. */
  usage: {
    data: Usage
  }
  /** Actions and approvals that a stop would cover; stops nothing. */
  previewStop: {
    body: PreviewStopRequest
    data: KillSwitchPreview
  }
  /** Every stop, newest first, ended ones too; `limit`, `offset`. */
  killSwitchHistory: {
    query: {
      /** Limit of items in the answer; a larger one is clamped. */
      limit?: number
      /** Number of items to skip. */
      offset?: number
    }
    data: PastKillSwitch[]
    page: Page
  }
  /** Decisions, newest first, filtered by action, requester and outcome. */
  listDecisions: {
    query: {
      /** Limit of decisions in the answer. */
      limit?: number
      /** Only decisions before this place of the trail: `next` of the page before. */
      before?: string
      /** The decision that was made. */
      decision?: 'allow' | 'deny' | 'require_approval'
      /** Decision of the policies, for decisions that were only observed. */
      observed?: 'allow' | 'deny' | 'require_approval'
      /** Decision of the set in shadow, where it would have decided otherwise; `differs` for any of these. */
      shadow?: 'differs' | 'allow' | 'deny' | 'require_approval'
      /** An action, or a glob: `payment.*`. */
      action?: string
      /** The step of the order of decision that decided. */
      decidedBy?:
        | 'kill_switch'
        | 'no_policy'
        | 'invalid_context'
        | 'deny_rule'
        | 'risk'
        | 'hold_rule'
        | 'allow_rule'
        | 'default'
        | 'approval'
      /** The rule that decided. */
      rule?: string
      /** Requester: its key's identity, else its key's id. */
      agent?: string
      /** The session that the policies saw. */
      session?: string
      /** Comparison of `rule`, `agent` and `session`: `whole`, or `part` of the name, ignoring case. */
      match?: 'whole' | 'part'
      /** A risk score of this or more. */
      minRisk?: number
      /** From this time on. */
      from?: string
      /** Before this time. */
      to?: string
    }
    data: DecisionList
  }
  /** The history of an action, in order: held, voted on, approved, used, its outcome. */
  decisionTimeline: {
    params: { id: string }
    data: DecisionTimeline
  }
  /** Context for the decision on an approval: its rule, what its agent did, whether this key may vote. */
  approvalBackground: {
    params: { id: string }
    data: ApprovalBackground
  }
  /** Decisions, denials and approvals of the last `hours`, the audit trail, and what is enforced now. */
  overview: {
    query: {
      /** Hours to look back; 24 if not given. */
      hours?: number
    }
    data: Overview
  }
  /** The policy set in shadow, and what it would have decided otherwise. */
  shadowPolicies: {
    data: ShadowState
  }
  /** The texts of the policy set in force, and the faults of the newest files. */
  policySource: {
    data: PolicyTexts
  }
  /** The decision that the policies in force, or texts that are sent, would make; records nothing. */
  dryRun: {
    body: DryRunRequest
    data: DryRun
  }
  /** Begins to decide recorded requests again with texts that are sent; records nothing. */
  replayPolicies: {
    body: ReplayPoliciesRequest
    data: Replay
  }
  /** The progress of a replay, and its result: what the draft changes, by decision, rule, factor and fact. */
  getReplay: {
    params: { id: string }
    data: Replay
  }
  /** Ends a replay, and forgets it. */
  cancelReplay: {
    params: { id: string }
    data: Replay
  }
  /** The decisions that a draft changes, oldest first, explained; `from`, `to`, `rule`, `limit`, `offset`. */
  replayChanges: {
    params: { id: string }
    query: {
      /** Limit of items in the answer; a larger one is clamped. */
      limit?: number
      /** Number of items to skip. */
      offset?: number
      /** The recorded decision. */
      from?: 'allow' | 'deny' | 'require_approval'
      /** The decision of the draft. */
      to?: 'allow' | 'deny' | 'require_approval'
      /** The rule that decided then, or by the draft. */
      rule?: string
    }
    data: ReplayChange[]
    page: Page
  }
  /** Records in the trail that the draft was tried, on what, and with what result. */
  sealReplay: {
    params: { id: string }
    data: Replay
  }
  /** Signed entries about a policy set, by its digest: how it was tried, and put in force. */
  exportPolicyChange: {
    params: { id: string }
    data: PolicyChange
  }
}

export const ROUTES = {
  check: { method: 'POST', path: '/gate/check', repeat: 'with_key', form: 'object' },
  risk: { method: 'POST', path: '/gate/risk', repeat: 'as_is', form: 'object' },
  outcome: { method: 'POST', path: '/gate/outcome', repeat: 'with_key', form: 'object' },
  listApprovals: { method: 'GET', path: '/approvals', repeat: 'as_is', form: 'page' },
  getApproval: { method: 'GET', path: '/approvals/:id', repeat: 'as_is', form: 'object' },
  approve: { method: 'POST', path: '/approvals/:id/approve', repeat: 'with_key', form: 'object' },
  reject: { method: 'POST', path: '/approvals/:id/reject', repeat: 'with_key', form: 'object' },
  cancelApproval: { method: 'POST', path: '/approvals/:id/cancel', repeat: 'never', form: 'object' },
  auditChain: { method: 'GET', path: '/audit/chain', repeat: 'as_is', form: 'page' },
  auditVerify: { method: 'POST', path: '/audit/verify', repeat: 'as_is', form: 'object' },
  auditVerifyLive: { method: 'GET', path: '/audit/verify', repeat: 'as_is', form: 'text' },
  auditLog: { method: 'POST', path: '/audit/log', repeat: 'with_key', form: 'object' },
  getDecision: { method: 'GET', path: '/decisions/:id', repeat: 'as_is', form: 'object' },
  exportBundle: { method: 'GET', path: '/evidence/bundle/:id', repeat: 'as_is', form: 'object' },
  verifyBundle: { method: 'POST', path: '/evidence/verify', repeat: 'as_is', form: 'object' },
  killSwitchStatus: { method: 'GET', path: '/killswitch/status', repeat: 'as_is', form: 'object' },
  trigger: { method: 'POST', path: '/killswitch/trigger', repeat: 'with_key', form: 'object' },
  recover: { method: 'POST', path: '/killswitch/recover', repeat: 'with_key', form: 'object' },
  listKeys: { method: 'GET', path: '/keys', repeat: 'as_is', form: 'list' },
  createKey: { method: 'POST', path: '/keys', repeat: 'never', form: 'object' },
  revokeKey: { method: 'DELETE', path: '/keys/:id', repeat: 'as_is', form: 'object' },
  listPolicies: { method: 'GET', path: '/policies', repeat: 'as_is', form: 'object' },
  validatePolicies: { method: 'POST', path: '/policies/validate', repeat: 'as_is', form: 'object' },
  reloadPolicies: { method: 'POST', path: '/policies/reload', repeat: 'as_is', form: 'object' },
  events: { method: 'GET', path: '/events', repeat: 'as_is', form: 'text' },
  openapi: { method: 'GET', path: '/openapi.json', repeat: 'as_is', form: 'json' },
  healthz: { method: 'GET', path: '/healthz', repeat: 'as_is', form: 'object' },
  readyz: { method: 'GET', path: '/readyz', repeat: 'as_is', form: 'object' },
  metrics: { method: 'GET', path: '/metrics', repeat: 'as_is', form: 'text' },
  openSession: { method: 'POST', path: '/session', repeat: 'never', form: 'object' },
  getSession: { method: 'GET', path: '/session', repeat: 'as_is', form: 'object' },
  endSession: { method: 'DELETE', path: '/session', repeat: 'as_is', form: 'object' },
  signInCode: { method: 'POST', path: '/session/code', repeat: 'never', form: 'object' },
  rotateKey: { method: 'POST', path: '/keys/:id/rotate', repeat: 'never', form: 'object' },
  usage: { method: 'GET', path: '/usage', repeat: 'as_is', form: 'object' },
  previewStop: { method: 'POST', path: '/killswitch/preview', repeat: 'as_is', form: 'object' },
  killSwitchHistory: { method: 'GET', path: '/killswitch/history', repeat: 'as_is', form: 'page' },
  listDecisions: { method: 'GET', path: '/decisions', repeat: 'as_is', form: 'cursor' },
  decisionTimeline: { method: 'GET', path: '/decisions/:id/timeline', repeat: 'as_is', form: 'object' },
  approvalBackground: { method: 'GET', path: '/approvals/:id/background', repeat: 'as_is', form: 'object' },
  overview: { method: 'GET', path: '/overview', repeat: 'as_is', form: 'object' },
  shadowPolicies: { method: 'GET', path: '/policies/shadow', repeat: 'as_is', form: 'object' },
  policySource: { method: 'GET', path: '/policies/source', repeat: 'as_is', form: 'object' },
  dryRun: { method: 'POST', path: '/policies/dry-run', repeat: 'as_is', form: 'object' },
  replayPolicies: { method: 'POST', path: '/policies/replay', repeat: 'as_is', form: 'object' },
  getReplay: { method: 'GET', path: '/policies/replay/:id', repeat: 'as_is', form: 'object' },
  cancelReplay: { method: 'DELETE', path: '/policies/replay/:id', repeat: 'as_is', form: 'object' },
  replayChanges: { method: 'GET', path: '/policies/replay/:id/changes', repeat: 'as_is', form: 'page' },
  sealReplay: { method: 'POST', path: '/policies/replay/:id/seal', repeat: 'never', form: 'object' },
  exportPolicyChange: { method: 'GET', path: '/evidence/policy-change/:id', repeat: 'as_is', form: 'object' },
} as const

/** Types of entries that the service itself writes, and what each records. */
export const EVENTS = {
  'gate.decision': 'a check was decided; `data` holds action and decision',
  'approval.requested': 'an action is held for a person',
  'approval.approved': 'a vote for a held request; with the last one of the quorum it is approved',
  'approval.rejected': 'a held request was refused',
  'approval.expired': 'a held request passed its deadline',
  'approval.cancelled': 'a stop, or a person, cancelled an approval before it was used',
  'approval.consumed': 'an approval was used by the action that it covers',
  'outcome.recorded': 'the outcome of an action after its decision, as reported by its agent',
  'outcome.missing': 'an allowed action whose agent reports outcomes got none in time: the gate may have been bypassed',
  'killswitch.triggered': 'a stop was put in force, or repeated',
  'killswitch.recovered': 'a stop was ended',
  'key.created': 'a key was made',
  'key.revoked': 'a key was ended',
  'key.rotated': 'a key was replaced by a new one of the same holder, and given an end',
  'session.started': 'a browser was signed in with a key, or with a code that the key made',
  'session.ended': 'a browser was signed out; `why` says by what',
  'tenant.created': 'a tenant was made',
  'tenant.changed': 'the plan of a tenant was changed',
  'policy.loaded': 'a policy set came into force',
  'policy.rejected': 'a policy set had faults and did not come into force',
  'policy.shadowed':
    'a policy set came into shadow beside the one in force, or left it; `data` has its digest, or null',
  'policy.replayed': 'a draft was tried on recorded requests; `data` has on which, by what, and what would change',
  'policy.compared':
    'two policy sets were compared; `data` has the differences in meaning that were found, and in how many',
  'policy.overridden':
    'a policy set may come into force without the replay that the settings require; `data` has the reason',
  'policy.promoted': 'a set in shadow is put in force; `data` has what it had said beside the decisions until then',
  'auth.refused': 'requests of one key were refused (401, 403), counted by the minute',
  'audit.genesis': 'the first entry of a chain',
  'audit.checkpoint': 'the heads of chains were signed',
  'audit.redaction': 'sections of entries were erased',
  'audit.prune': 'the oldest entries were archived and deleted',
  'audit.restored': 'the trail was accepted as it is, although anchors contradict it or checkpoints are missing',
  'audit.verified': 'the service verified its own chains',
  'clock.regression': 'the clock of the machine was set back',
} as const

/** Results of verifying a part of a chain. */
export const RANGE_STATUSES = {
  ok: 'all entries follow one another, and an external anchor has all of them',
  unanchored: 'all entries follow one another; for those that are in no external anchor yet, only this service vouches',
  empty: 'there is no entry, and the entries on both sides follow one another',
  tampered: 'the content of an entry was changed, or the tree is not the signed one',
  'broken-link': 'an entry is missing, or does not follow from the one before it',
  unsealed: 'the newest entries were not appended by the holder of the log key',
  unsigned: 'entries are unsigned for longer than a running service leaves them, and the log key is not available',
  truncated: 'signed entries are missing at the start or the end',
  pruned: 'the range begins before the oldest entry that is left; what is left of it follows',
  unlawful: 'an entry records something that was not permitted; the entry itself is intact and signed',
  forked: 'an anchor holds another history',
  rollback: 'an anchor holds more entries than there are',
} as const
