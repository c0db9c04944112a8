# Written by `npm run docs` from the OpenAPI document of the service. Do not edit.
"""Types of every request and answer, and the table of routes."""

from __future__ import annotations

from typing import (
    Any,
    Dict,
    Final,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    TypedDict,
)

__all__ = [
    "Approval",
    "ApprovalBackground",
    "ApprovalFigures",
    "ApprovalPage",
    "ApproveRequest",
    "AuditEntry",
    "AuditEntryPage",
    "AuditFigures",
    "BundleVerification",
    "CancelRequest",
    "CheckRequest",
    "CreateKeyRequest",
    "CreatedKey",
    "Decision",
    "DecisionBucket",
    "DecisionCaller",
    "DecisionPage",
    "DecisionTimeline",
    "Denial",
    "Diagnostic",
    "Difference",
    "DryRun",
    "DryRunRequest",
    "Envelope",
    "Environment",
    "ExplainedCondition",
    "ExplainedFactor",
    "ExplainedRequest",
    "ExplainedRule",
    "Explanation",
    "FailMode",
    "Failure",
    "Health",
    "Key",
    "KillSwitch",
    "KillSwitchLevel",
    "KillSwitchPreview",
    "KillSwitchStatus",
    "ListedDecision",
    "ListedKey",
    "LogRequest",
    "OpenedSession",
    "Operation",
    "Outcome",
    "OutcomeRequest",
    "Overview",
    "Page",
    "PastDecision",
    "PastKillSwitch",
    "PastKillSwitchPage",
    "PolicyChange",
    "PolicyFile",
    "PolicyList",
    "PolicyState",
    "PolicyTexts",
    "PolicyValidation",
    "Posture",
    "PreviewStopRequest",
    "RangeVerification",
    "Readiness",
    "RecordedDecision",
    "RecoverRequest",
    "RejectRequest",
    "ReloadPoliciesRequest",
    "Replay",
    "ReplayChange",
    "ReplayChangePage",
    "ReplayKind",
    "ReplayPoliciesRequest",
    "ReplaySide",
    "RiskAssessment",
    "RiskFactor",
    "RiskRequest",
    "Role",
    "RotateKeyRequest",
    "RotatedKey",
    "ShadowNote",
    "ShadowState",
    "ShownValue",
    "Sidecar",
    "SidecarsByDigest",
    "SidecarsByVersion",
    "SignInLink",
    "SignedIn",
    "TimelineItem",
    "TriggerRequest",
    "TriggeredKillSwitch",
    "TrustBundle",
    "Unevaluable",
    "Usage",
    "ValidatePoliciesRequest",
    "VerifyBundleRequest",
    "VerifyRequest",
    "Vote",
]


class Approval(TypedDict):
    """A held action, for people to decide. It covers exactly this request, once, until its
    deadline.
    """

    id: str
    """Names it in paths."""
    action: str
    status: Literal["pending", "approved", "rejected", "expired", "cancelled", "consumed"]
    createdAt: str
    """UTC, with milliseconds."""
    context: Dict[str, Any]
    plan: Optional[Dict[str, Any]]
    decisionId: str
    """The decision that held the action."""
    riskScore: float
    factors: List[RiskFactor]
    reason: str
    rule: Optional[str]
    requestedBy: str
    """The requesting key's identity, else its id."""
    quorum: int
    """Votes of distinct people that it needs."""
    votes: List[Vote]
    expiresAt: str
    """UTC, with milliseconds."""
    decidedAt: Optional[str]
    """UTC, with milliseconds."""
    digest: str
    """Digest of everything that the approval covers."""
    unbound: List[str]
    """Paths that it does not cover."""
    stop: Optional[KillSwitch]
    """Stop that holds it, during which its time does not run, or that cancelled it."""


class ApprovalBackgroundRule(TypedDict):
    id: str
    file: str
    """Policy file, such as `acme/main.yaml`."""
    line: int
    """From 1."""
    endLine: int
    """From 1."""
    text: str
    """These lines; of more than 8,000 characters the beginning and the end."""


class ApprovalBackgroundUnshown(TypedDict):
    code: Literal["no_rule", "redacted", "policy_not_kept", "policy_altered", "policy_unloadable"]
    message: str


class ApprovalBackgroundAgentLastDay(TypedDict):
    allow: int
    deny: int
    require_approval: int
    complete: bool
    """False when not all 24 hours were looked at."""


class ApprovalBackgroundAgent(TypedDict):
    principal: str
    """Requester: the key's identity, else its id."""
    name: Optional[str]
    """Name of the key."""
    keyId: str
    """The key that asked."""
    recent: List[PastDecision]
    """Its last 10 other decisions, newest first."""
    lastDay: ApprovalBackgroundAgentLastDay
    """Number of its checks in the last 24 hours, by decision."""


class ApprovalBackgroundSession(TypedDict):
    id: Optional[str]
    """Name of the session, from the fact that the policies declare."""
    recent: List[PastDecision]
    """Its last 20 other decisions, newest first."""


class ApprovalBackgroundApprovers(TypedDict):
    groups: List[List[str]]
    """A voter has one of the groups of each list; without a list, every approver may vote."""
    quorum: int
    """Votes of distinct people that it needs."""
    selfApproval: bool
    """True when the requester may approve."""


class ApprovalBackgroundMayVote(TypedDict):
    allowed: bool
    reason: Optional[str]
    """Reason why not, as a sentence; null when allowed."""


class ApprovalBackgroundMayReject(TypedDict):
    allowed: bool
    reason: Optional[str]
    """Reason why not, as a sentence; null when allowed."""


class ApprovalBackground(TypedDict):
    """Context for the decision on an approval, beyond the approval itself."""

    approvalId: str
    """The one that was asked for."""
    policyDigest: Optional[str]
    rule: Optional[ApprovalBackgroundRule]
    """A rule as it is written in the policies that decided."""
    unshown: Optional[ApprovalBackgroundUnshown]
    """Reason why `rule` is null."""
    agent: ApprovalBackgroundAgent
    """The requester and its earlier decisions."""
    session: ApprovalBackgroundSession
    """The session of the agent."""
    searchedTo: Optional[str]
    """Time back to which decisions were searched; null when there are no more."""
    approvers: ApprovalBackgroundApprovers
    """Requirements for voters and their votes."""
    mayVote: ApprovalBackgroundMayVote
    """Permission of this key to approve it now."""
    mayReject: ApprovalBackgroundMayReject
    """Permission of this key to reject it now."""


class ApprovalFiguresDecided(TypedDict):
    approved: int
    rejected: int
    expired: int
    cancelled: int


class ApprovalFiguresWaitMs(TypedDict):
    p50: float
    p90: float
    max: float


class ApprovalFigures(TypedDict):
    pending: int
    oldestPendingAt: Optional[str]
    """UTC, with milliseconds."""
    nextDeadlineAt: Optional[str]
    """UTC, with milliseconds."""
    decided: ApprovalFiguresDecided
    """Ends of approvals since `from`. An approved one may have expired afterwards too."""
    waitMs: Optional[ApprovalFiguresWaitMs]
    """Time that people took to approve or reject; null where none did."""


class _ApproveRequest(TypedDict):
    approver_id: str


class ApproveRequest(_ApproveRequest, total=False):
    comment: str


class AuditEntry(TypedDict):
    """One entry of the hash-chained trail."""

    id: str
    """Id of the entry; for a decision, its id with another prefix."""
    timestamp: str
    """UTC, with milliseconds."""
    eventType: str
    """One of the service's types, or a caller's own."""
    data: Optional[Dict[str, Any]]
    hash: str
    chain: str
    """Its chain: that of the tenant, or a lane of it."""
    seq: int
    """Its place in the chain, without gaps."""
    previousHash: str
    actor: Optional[Dict[str, Any]]


class AuditFiguresLastVerified(TypedDict):
    at: str
    """UTC, with milliseconds."""
    valid: bool
    chains: int


class AuditFiguresSinksItem(TypedDict):
    sink: Literal["file", "webhook"]
    ok: bool
    lastAt: Optional[str]
    """UTC, with milliseconds."""


class AuditFigures(TypedDict):
    entries: int
    """Entries of the chain and its lanes, including pruned ones."""
    newestAt: Optional[str]
    """UTC, with milliseconds."""
    lastVerified: Optional[AuditFiguresLastVerified]
    """Last verification of all chains by the service; null before the first."""
    unanchoredEntries: Optional[int]
    """Entries of all chains that no anchor covers; null without a sink."""
    sinks: List[AuditFiguresSinksItem]
    fault: Optional[str]
    """Reason why nothing is written; null while writing is allowed."""


class BundleVerificationChecksItem(TypedDict):
    check: Literal[
        "form",
        "files",
        "certificate",
        "revocation",
        "signature",
        "segment",
        "openings",
        "checkpoint",
        "inclusion",
        "lanes",
        "anchors",
        "approval",
        "times",
    ]
    part: Literal["all", "signature", "chain", "time"]
    result: Literal["ok", "failed", "unknown"]
    why: Optional[str]


class _BundleVerification(TypedDict):
    valid: bool
    signatureValid: bool
    chainValid: bool
    timestampValid: bool
    verdict: Literal["valid", "invalid", "incomplete"]
    """Incomplete: no check failed, but not all could be made."""
    assurance: Literal["self-asserted", "bracketed"]
    """Bracketed: somebody outside holds its checkpoint."""
    redacted: List[str]
    """Parts that have been erased, and are no longer proved."""
    erasedSince: List[str]
    """Parts that the bundle shows, and that were erased here after its export."""
    reasons: List[str]
    """A sentence for each check that is not ok."""
    checks: List[BundleVerificationChecksItem]


class BundleVerification(_BundleVerification, total=False):
    observed: str
    """Decision of the policies, where they were only observed: it was allowed all the same."""


class CancelRequest(TypedDict):
    pass


class _CheckRequest(TypedDict):
    action: str
    """Action type, such as payment.transfer."""


class CheckRequest(_CheckRequest, total=False):
    context: Mapping[str, Any]
    plan: Mapping[str, Any]
    approval_id: str
    """An approval to use."""


class _CreateKeyRequest(TypedDict):
    roles: Sequence[Role]


class CreateKeyRequest(_CreateKeyRequest, total=False):
    environment: Environment
    name: str
    identity: str
    groups: Sequence[str]
    expires_at: str
    """A future time with a time zone."""


class CreatedKey(TypedDict):
    """A new key with its secret."""

    id: str
    """Names the key; not a secret."""
    tenantId: Optional[str]
    """null for admin keys, which reach every tenant."""
    environment: Environment
    roles: List[Role]
    identity: Optional[str]
    """Holder of the key; approvals by one identity count once."""
    groups: List[str]
    name: Optional[str]
    createdAt: str
    """UTC, with milliseconds."""
    createdBy: str
    """The key that made it, or `host:<uid>`."""
    expiresAt: Optional[str]
    """UTC, with milliseconds."""
    revokedAt: Optional[str]
    """UTC, with milliseconds."""
    rotatedFrom: Optional[str]
    """The first key of its line, when it came by rotation."""
    rotatedBy: Optional[str]
    """Key of another holder that created its secret, or the secret of an earlier key of its line.
    """
    replacedBy: Optional[str]
    """The key that came after it by rotation."""
    key: str
    """Shown this once."""


class DecisionPlan(TypedDict):
    action: str
    validated: bool


class _Decision(TypedDict):
    decision: Literal["allow", "deny", "require_approval"]
    """Only `allow` lets the action run."""
    reason: str
    """A sentence for people."""
    riskScore: float
    plan: DecisionPlan
    decisionId: str
    """Exports as evidence under this id."""
    timestamp: str
    """UTC, with milliseconds."""
    rule: Optional[str]
    """The rule that decided, if one did."""
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    """The step of the order of decision that decided."""
    retry: Literal["never", "after_approval", "changed_request"]
    """Advice about when to ask again."""
    policyDigest: Optional[str]
    approvalId: Optional[str]
    """The approval that is waited for, or was used."""
    approvalExpiresAt: Optional[str]
    """UTC, with milliseconds."""
    validUntil: Optional[str]
    """An allow is good until then."""
    factors: List[RiskFactor]
    unevaluable: List[Unevaluable]


class Decision(_Decision, total=False):
    """The decision and its reason. It is on disk before it is answered."""

    observed: Literal["allow", "deny", "require_approval"]
    """Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow`
    then.
    """
    explanation: Explanation


class DecisionBucket(TypedDict):
    """Decisions from `at` on, for `bucketMs`."""

    at: str
    """UTC, with milliseconds."""
    allow: int
    deny: int
    requireApproval: int


class DecisionCaller(TypedDict):
    keyId: str
    """The key that asked."""
    identity: Optional[str]
    """Holder of the key."""
    name: Optional[str]
    roles: List[str]


class DecisionTimelineApproval(TypedDict):
    id: str
    """Approval that joins the decisions."""
    status: Optional[Literal["pending", "approved", "rejected", "expired", "cancelled", "consumed"]]
    """Now; null when it is not there any more."""
    heldDecisionId: Optional[str]
    """The decision that asked for it."""
    usedByDecisionId: Optional[str]
    """The decision that used it."""


class DecisionTimeline(TypedDict):
    """History of an action: both decisions of an approval have the same one."""

    decisionId: str
    """The one that was asked for."""
    approval: Optional[DecisionTimelineApproval]
    """Null where none was asked for."""
    items: List[TimelineItem]
    """In order."""
    leftOut: int
    """Number of entries of the approval that are left out, the oldest ones."""


class Denial(TypedDict):
    rule: Optional[str]
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    """The step of the order of decision that decided."""
    count: int


class _Diagnostic(TypedDict):
    file: str
    line: int
    column: int
    severity: Literal["error", "warning"]
    code: Literal[
        "GATE1001",
        "GATE1002",
        "GATE1003",
        "GATE1004",
        "GATE1005",
        "GATE1006",
        "GATE1007",
        "GATE1008",
        "GATE1009",
        "GATE1010",
        "GATE1011",
        "GATE1012",
        "GATE1013",
        "GATE1014",
        "GATE1015",
        "GATE1016",
        "GATE1017",
        "GATE1018",
        "GATE1019",
        "GATE1020",
        "GATE1021",
        "GATE1022",
        "GATE1023",
        "GATE1101",
        "GATE1102",
        "GATE1103",
        "GATE1104",
        "GATE1105",
        "GATE1106",
        "GATE1107",
        "GATE1108",
        "GATE1109",
        "GATE1110",
        "GATE1111",
        "GATE1112",
        "GATE1113",
        "GATE1114",
        "GATE1115",
        "GATE1116",
        "GATE1117",
        "GATE1201",
        "GATE1202",
        "GATE1203",
        "GATE1204",
        "GATE1205",
        "GATE1206",
        "GATE1207",
        "GATE1208",
        "GATE1209",
        "GATE1210",
        "GATE1211",
        "GATE1212",
        "GATE1213",
        "GATE1214",
        "GATE1215",
        "GATE1216",
        "GATE1301",
        "GATE1302",
        "GATE1303",
        "GATE1304",
        "GATE1305",
        "GATE1306",
        "GATE1307",
        "GATE1308",
        "GATE1309",
        "GATE1310",
        "GATE1311",
        "GATE1312",
        "GATE1313",
        "GATE1314",
        "GATE1315",
        "GATE1401",
        "GATE1402",
        "GATE1403",
        "GATE1404",
        "GATE1405",
        "GATE1406",
        "GATE1407",
        "GATE1408",
        "GATE1501",
        "GATE1502",
        "GATE1503",
        "GATE1504",
        "GATE1505",
        "GATE1506",
        "GATE1507",
        "GATE1508",
        "GATE1509",
        "GATE1510",
        "GATE2001",
        "GATE2002",
        "GATE2003",
        "GATE2005",
        "GATE2006",
        "GATE2007",
        "GATE2008",
        "GATE2009",
        "GATE2010",
        "GATE2011",
        "GATE2012",
        "GATE2013",
        "GATE2014",
        "GATE2015",
        "GATE2016",
        "GATE2017",
        "GATE2018",
        "GATE2019",
        "GATE2021",
        "GATE2022",
        "GATE2023",
        "GATE2024",
        "GATE2025",
        "GATE2026",
        "GATE2027",
        "GATE2028",
        "GATE2029",
        "GATE2030",
        "GATE2031",
        "GATE2032",
        "GATE2033",
        "GATE2034",
        "GATE2035",
        "GATE2036",
        "GATE2037",
        "GATE2038",
        "GATE2039",
        "GATE2040",
        "GATE2041",
        "GATE2042",
        "GATE2050",
        "GATE2051",
        "GATE2052",
        "GATE2101",
        "GATE2102",
        "GATE2103",
        "GATE2104",
        "GATE2105",
        "GATE2106",
        "GATE2107",
        "GATE2108",
        "GATE2109",
        "GATE2110",
        "GATE2111",
        "GATE2112",
    ]
    message: str
    path: str
    suggestion: Optional[str]
    excerpt: Optional[str]
    """The line of the fault, of a long one 400 characters around it; null where no line tells
    anything.
    """
    excerptColumn: Optional[int]
    """The column of the first character of `excerpt`: the fault stands there behind `column -
    excerptColumn` UTF-16 units. 1 unless the line was cut before it.
    """


class Diagnostic(_Diagnostic, total=False):
    """One fault of a policy set."""

    endColumn: int


class Difference(TypedDict):
    """Difference between the recorded decision and its reevaluation."""

    member: str
    """Member of the decision."""
    recorded: ShownValue
    again: ShownValue


class DryRunVerdict(TypedDict):
    decision: Literal["allow", "deny", "require_approval"]
    reason: str
    rule: Optional[str]
    """The rule that decides, if one does."""
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    """The step of the order of decision that decides."""
    retry: Literal["never", "after_approval", "changed_request"]
    """Advice about when to ask again."""
    riskScore: float
    factors: List[RiskFactor]
    unevaluable: List[Unevaluable]
    planValidated: bool
    explanation: Explanation


class DryRun(TypedDict):
    """Decision that would be made now. It is recorded nowhere."""

    policyDigest: Optional[str]
    verdict: Optional[DryRunVerdict]
    """Decision that would be made, without approvals."""
    diagnostics: List[Diagnostic]
    """Faults of the draft: with an error among them there is no verdict."""


class _DryRunRequest(TypedDict):
    action: str
    """Action type, such as payment.transfer."""


class DryRunRequest(_DryRunRequest, total=False):
    context: Mapping[str, Any]
    plan: Mapping[str, Any]
    agent: str
    """Requester: the identity of a key, or the id of one that has none. Without it, a requester
    without earlier decisions.
    """
    files: Sequence[PolicyFile]
    """Policies and tests, in any order."""
    lists: Sequence[PolicyList]
    """The list files that the policies name."""


class EnvelopeSignaturesItem(TypedDict):
    keyid: str
    sig: str


class Envelope(TypedDict):
    payloadType: Literal["application/vnd.gate-sidecar.trust-bundle.v1+json"]
    payload: str
    signatures: List[EnvelopeSignaturesItem]


Environment = Literal["live", "test"]


class ExplainedConditionSeen(TypedDict, total=False):
    value: Any
    beginning: str
    characters: int


class _ExplainedCondition(TypedDict):
    kind: Literal["leaf", "all", "any", "not", "condition"]
    outcome: Literal["true", "false", "unknown"]
    """`unknown` if a fact is missing or has the wrong type, or if the comparison takes more work
    than one check may do.
    """


class ExplainedCondition(_ExplainedCondition, total=False):
    """A condition and its result. A `leaf` compares a fact with a value; `all`, `any` and `not`
    have `conditions`; a `condition` is a named one where it is used, and shows what it stands for
    the first time in its rule or factor.
    """

    fact: str
    operator: str
    wanted: ShownValue
    seen: Optional[ExplainedConditionSeen]
    """Null when the fact is missing and has no default."""
    defaulted: Literal[True]
    """The fact was missing: `seen` is its declared default."""
    overBudget: Literal[True]
    """Comparing takes more work than one check may do: the outcome is unknown."""
    name: str
    file: str
    """Policy file, such as `acme/main.yaml`."""
    line: int
    """From 1."""
    conditions: List[ExplainedCondition]
    leftOut: int
    """Number of its conditions that are not shown."""


class ExplainedFactorScaleSeen(TypedDict, total=False):
    value: Any
    beginning: str
    characters: int


_ExplainedFactorScale = TypedDict(
    "_ExplainedFactorScale",
    {
        "fact": "str",
        "from": "float",
        "to": "float",
        "seen": "Optional[ExplainedFactorScaleSeen]",
    },
)


class ExplainedFactorScale(_ExplainedFactorScale, total=False):
    defaulted: Literal[True]
    """The fact was missing: `seen` is its declared default."""


class _ExplainedFactor(TypedDict):
    name: str
    outcome: Literal["true", "false", "unknown"]
    """`unknown` if a fact is missing or has the wrong type, or if the comparison takes more work
    than one check may do.
    """
    weight: float
    """The most that it can contribute."""
    contribution: float
    file: str
    """Policy file, such as `acme/main.yaml`."""
    line: int
    """From 1."""
    scale: Optional[ExplainedFactorScale]
    """It adds nothing at `from` or below, the whole weight at `to` or above."""


class ExplainedFactor(_ExplainedFactor, total=False):
    """A risk factor about the action."""

    condition: ExplainedCondition


class ExplainedRequest(TypedDict):
    """Result of validating context and plan as declared."""

    declared: bool
    """The action is declared under `actions`."""
    validated: bool
    """It is declared, and context and plan pass."""
    fault: Optional[str]
    """Fault of context or plan; null when there is none."""


class _ExplainedRule(TypedDict):
    id: str
    effect: Literal["allow", "deny", "require_approval"]
    outcome: Literal["true", "false", "unknown"]
    """`unknown` if a fact is missing or has the wrong type, or if the comparison takes more work
    than one check may do.
    """
    matches: bool
    """A rule of unknown outcome matches where it restrains, and does not where it permits."""
    decides: bool
    file: str
    """Policy file, such as `acme/main.yaml`."""
    line: int
    """From 1."""


class ExplainedRule(_ExplainedRule, total=False):
    """A rule about the action. Without a `condition` it always holds."""

    condition: ExplainedCondition


class ExplanationThresholds(TypedDict):
    requireApproval: float
    deny: float


class Explanation(TypedDict):
    """Rules and risk factors about the action with the values that they saw, in bounded size."""

    domain: Optional[str]
    """Domain of the action; null when it is in none."""
    killSwitch: Optional[str]
    """Reason of the stop that covers the action; null when none does."""
    request: ExplainedRequest
    thresholds: Optional[ExplanationThresholds]
    """Risk scores from which an action needs approval, and is denied."""
    rules: List[ExplainedRule]
    """The one that decides first, then those that match."""
    rulesLeftOut: int
    """Number of further ones that are not shown."""
    factors: List[ExplainedFactor]
    """Those that add something first."""
    factorsLeftOut: int
    """Number of further ones that are not shown."""


class FailMode(TypedDict):
    situation: str
    behaviour: str


class Health(TypedDict):
    status: Literal["ok"]


class Key(TypedDict):
    """A key without its secret."""

    id: str
    """Names the key; not a secret."""
    tenantId: Optional[str]
    """null for admin keys, which reach every tenant."""
    environment: Environment
    roles: List[Role]
    identity: Optional[str]
    """Holder of the key; approvals by one identity count once."""
    groups: List[str]
    name: Optional[str]
    createdAt: str
    """UTC, with milliseconds."""
    createdBy: str
    """The key that made it, or `host:<uid>`."""
    expiresAt: Optional[str]
    """UTC, with milliseconds."""
    revokedAt: Optional[str]
    """UTC, with milliseconds."""
    rotatedFrom: Optional[str]
    """The first key of its line, when it came by rotation."""
    rotatedBy: Optional[str]
    """Key of another holder that created its secret, or the secret of an earlier key of its line.
    """
    replacedBy: Optional[str]
    """The key that came after it by rotation."""


class KillSwitch(TypedDict):
    id: str
    """Names the stop in the trail."""
    level: KillSwitchLevel
    scope: str
    """L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`."""
    triggeredAt: str
    """UTC, with milliseconds."""
    triggeredBy: str
    reason: str


KillSwitchLevel = Literal["L1", "L2", "L3", "L4"]
"""L1 an action, L2 a domain, L3 the tenant, L4 everything."""


class KillSwitchPreview(TypedDict):
    """Effect that a trigger would have. Nothing has been stopped."""

    level: KillSwitchLevel
    scope: str
    """L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`."""
    covers: List[str]
    """Declared and recently used actions that the stop covers."""
    warning: Optional[str]
    """Warning that an L1 stop covers none of them, or that the store cannot be written; otherwise
    null.
    """
    approvals: int
    """Pending approvals that it would cover: they keep their time."""
    cancels: int
    """Approvals, approved and not used, that it would cancel."""
    moreApprovals: bool
    """There are more open approvals than the 1,000 that were looked at, those with the earliest
    deadlines.
    """
    allowed: bool
    """True when this key may trigger it."""
    refusal: Optional[str]
    """Reason why it may not; null when it may."""


class _KillSwitchStatus(TypedDict):
    active: bool
    level: Optional[Literal["L1", "L2", "L3", "L4"]]
    """L1 an action, L2 a domain, L3 the tenant, L4 everything."""
    scope: Optional[str]
    """L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`."""
    switches: List[KillSwitch]
    """Every stop in force over the tenant, strongest first."""


class KillSwitchStatus(_KillSwitchStatus, total=False):
    """The strongest stop in force; `triggeredAt`, `triggeredBy` and `reason` only while there is
    one.
    """

    triggeredAt: str
    """UTC, with milliseconds."""
    triggeredBy: str
    """As claimed in the request."""
    reason: str


class _ListedDecision(TypedDict):
    id: str
    """Names it in paths."""
    timestamp: str
    """UTC, with milliseconds."""
    seq: int
    """Sequence number of its audit entry."""
    entryId: str
    """Id of its audit entry."""
    action: Optional[str]
    decision: Optional[Literal["allow", "deny", "require_approval"]]
    rule: Optional[str]
    """The rule that decided, if one did."""
    reason: Optional[str]
    riskScore: Optional[float]
    decidedBy: Optional[
        Literal[
            "kill_switch",
            "no_policy",
            "invalid_context",
            "deny_rule",
            "risk",
            "hold_rule",
            "allow_rule",
            "default",
            "approval",
        ]
    ]
    """The step of the order of decision that decided."""
    agent: Optional[str]
    """Requester: its key's identity, else its key's id."""
    keyId: Optional[str]
    """The key that asked."""
    session: Optional[str]
    """Name of the session, from the fact that the policies declare."""
    approvalId: Optional[str]
    """Approval that it waited for, or used."""
    redacted: bool
    """True when the decision is not there any more: all but its ids, time and `seq` is null."""


class ListedDecision(_ListedDecision, total=False):
    """A decision as a line of a list."""

    observed: Literal["allow", "deny", "require_approval"]
    """Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow`
    then.
    """
    shadow: ShadowNote


class ListedKey(TypedDict):
    """A key without its secret, and when it was used last."""

    id: str
    """Names the key; not a secret."""
    tenantId: Optional[str]
    """null for admin keys, which reach every tenant."""
    environment: Environment
    roles: List[Role]
    identity: Optional[str]
    """Holder of the key; approvals by one identity count once."""
    groups: List[str]
    name: Optional[str]
    createdAt: str
    """UTC, with milliseconds."""
    createdBy: str
    """The key that made it, or `host:<uid>`."""
    expiresAt: Optional[str]
    """UTC, with milliseconds."""
    revokedAt: Optional[str]
    """UTC, with milliseconds."""
    rotatedFrom: Optional[str]
    """The first key of its line, when it came by rotation."""
    rotatedBy: Optional[str]
    """Key of another holder that created its secret, or the secret of an earlier key of its line.
    """
    replacedBy: Optional[str]
    """The key that came after it by rotation."""
    lastUsedAt: Optional[str]
    """Time of the last request with the key; null without one. After a crash, it lags by a minute
    at most.
    """


class _LogRequest(TypedDict):
    event_type: str
    data: Mapping[str, Any]


class LogRequest(_LogRequest, total=False):
    user_id: str


class OpenedSessionSession(TypedDict):
    id: str
    """Names the session in the trail."""
    startedAt: str
    """UTC, with milliseconds."""
    idleEndsAt: str
    """End of the session, unless its user does something before."""
    endsAt: str
    """Latest end of the session."""


class OpenedSession(TypedDict):
    keyId: str
    """The key that the session was opened with, or that asks."""
    name: Optional[str]
    identity: Optional[str]
    """Holder of the key: approvals are recorded under this identity."""
    principal: str
    """Principal of votes and requests with the key: its identity, else the first key of its line.
    """
    groups: List[str]
    roles: List[Role]
    environment: Environment
    tenants: List[str]
    """Those that `x-tenant-id` may name, at most 1,000."""
    may: List[Operation]
    """The operations that the roles allow."""
    session: Optional[OpenedSessionSession]
    """Null for a caller with a key."""
    token: str
    """Sent as `x-session-token` with each request of the session, beside the cookie that this
    answer sets.
    """


Operation = Literal[
    "check",
    "risk",
    "outcome",
    "listApprovals",
    "getApproval",
    "approve",
    "reject",
    "cancelApproval",
    "auditChain",
    "auditVerify",
    "auditLog",
    "getDecision",
    "exportBundle",
    "verifyBundle",
    "killSwitchStatus",
    "trigger",
    "recover",
    "listKeys",
    "createKey",
    "revokeKey",
    "listPolicies",
    "validatePolicies",
    "reloadPolicies",
    "events",
    "openSession",
    "getSession",
    "endSession",
    "signInCode",
    "rotateKey",
    "usage",
    "previewStop",
    "killSwitchHistory",
    "listDecisions",
    "decisionTimeline",
    "approvalBackground",
    "auditVerifyLive",
    "overview",
    "shadowPolicies",
    "policySource",
    "dryRun",
    "replayPolicies",
    "getReplay",
    "replayChanges",
    "sealReplay",
    "exportPolicyChange",
    "cancelReplay",
]


class Outcome(TypedDict):
    """Outcome of an action after its decision, as its agent reports it."""

    decisionId: str
    """The decision that the action was run on."""
    action: str
    decision: Literal["allow", "deny", "require_approval"]
    status: Literal["succeeded", "failed", "not_run", "missing"]
    """`failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports
    outcomes, reported none in time.
    """
    possibleBypass: bool
    """It ran without an allow, or its outcome never came."""
    observed: bool
    """The caller said that it only watches and runs actions whatever is decided."""
    durationMs: Optional[int]
    error: Optional[str]
    """As the caller put it; null also where it has been erased."""
    recordedAt: str
    """UTC, with milliseconds."""
    entryId: str
    """Id of its audit entry."""


class _OutcomeRequest(TypedDict):
    decision_id: str
    """The decision that the action was run on."""
    status: Literal["succeeded", "failed", "not_run"]


class OutcomeRequest(_OutcomeRequest, total=False):
    observed: bool
    """The caller only observes: it runs every action, whatever the decision."""
    duration_ms: int
    error: str
    """Reason why it failed, or was not run."""


class OverviewLatency(TypedDict):
    count: int
    p50Ms: float
    p99Ms: float


class OverviewFleet(TypedDict):
    live: int
    """Number of live sidecars."""
    sidecars: List[Sidecar]
    """Live sidecars first; dead ones for an hour, unless another takes their lane. At most 200."""
    sidecarsLeftOut: int
    policies: List[SidecarsByDigest]
    """Live sidecars by the digest of the tenant's policies in force there; null without any."""
    versions: List[SidecarsByVersion]
    """Live sidecars by version."""


Overview = TypedDict(
    "Overview",
    {
        "from": "str",
        "to": "str",
        "bucketMs": "int",
        "completeFrom": "str",
        "decisions": "List[DecisionBucket]",
        "observed": "int",
        "denials": "List[Denial]",
        "denialsLeftOut": "int",
        "approvals": "ApprovalFigures",
        "latency": "Optional[OverviewLatency]",
        "audit": "AuditFigures",
        "posture": "Posture",
        "fleet": "Optional[OverviewFleet]",
    },
)


class PastDecision(TypedDict):
    id: str
    """As it was answered."""
    timestamp: str
    """UTC, with milliseconds."""
    action: str
    decision: Literal["allow", "deny", "require_approval"]
    riskScore: float
    outcome: Optional[Literal["succeeded", "failed", "not_run", "missing"]]
    """Outcome of the action; null while nothing is known."""


class PastKillSwitch(TypedDict):
    """A stop that is or was in force; members about its end are null until then."""

    id: str
    """Names the stop in the trail."""
    level: KillSwitchLevel
    scope: str
    """L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`."""
    triggeredAt: str
    """UTC, with milliseconds."""
    triggeredBy: str
    reason: str
    recoveredAt: Optional[str]
    """UTC, with milliseconds."""
    recoveredBy: Optional[str]
    """As claimed in the request."""
    comment: Optional[str]
    """Comment given when it was ended."""
    durationMs: Optional[int]
    """Time during which it was in force."""


class PolicyChangeEntriesItemHeader(TypedDict):
    chain: str
    commits: Dict[str, str]
    id: str
    prev: str
    seq: int
    ts: str
    type: str
    v: Literal[1]


class PolicyChangeEntriesItemActor(TypedDict):
    salt: str
    value: Dict[str, Any]


class PolicyChangeEntriesItemData(TypedDict):
    salt: str
    value: Dict[str, Any]


class PolicyChangeEntriesItem(TypedDict):
    header: PolicyChangeEntriesItemHeader
    actor: PolicyChangeEntriesItemActor
    data: PolicyChangeEntriesItemData
    inclusion: List[str]


class PolicyChangeProofCertificateStatement(TypedDict):
    origin: str
    purpose: Literal["bundle"]
    publicKey: str
    notBefore: str
    notAfter: str


class PolicyChangeProofCertificate(TypedDict):
    statement: PolicyChangeProofCertificateStatement
    signedBy: str
    signature: str


PolicyChangeProofRotationsItemStatement = TypedDict(
    "PolicyChangeProofRotationsItemStatement",
    {
        "origin": "str",
        "from": "str",
        "to": "str",
        "at": "str",
    },
)


PolicyChangeProofRotationsItemSignatures = TypedDict(
    "PolicyChangeProofRotationsItemSignatures",
    {
        "from": "str",
        "to": "str",
    },
)


class PolicyChangeProofRotationsItem(TypedDict):
    statement: PolicyChangeProofRotationsItemStatement
    signatures: PolicyChangeProofRotationsItemSignatures


class PolicyChangeProof(TypedDict):
    v: Literal[1]
    origin: str
    checkpoint: str
    certificate: PolicyChangeProofCertificate
    rotations: List[PolicyChangeProofRotationsItem]


class PolicyChangeSignaturesService(TypedDict):
    algorithm: str
    publicKey: str
    signature: str


class PolicyChangeSignatures(TypedDict):
    service: PolicyChangeSignaturesService


class PolicyChange(TypedDict):
    bundleId: str
    version: Literal["1.0"]
    kind: Literal["policy-change"]
    tenantId: str
    policyDigest: str
    exportedAt: str
    entries: List[PolicyChangeEntriesItem]
    leftOut: int
    proof: PolicyChangeProof
    signatures: PolicyChangeSignatures


class PolicyFile(TypedDict):
    name: str
    """As in the folder of the tenant: `main.yaml`."""
    text: str
    """The content of the file."""


class PolicyList(TypedDict):
    path: str
    """As a policy writes it: `lists/sanctioned.txt`."""
    text: str
    """The content of the list file."""


class PolicyState(TypedDict):
    """The policy set in force, and what is wrong with the newest files."""

    digest: Optional[str]
    mode: Optional[Literal["enforce", "observe"]]
    """`observe`: the policies decide and record, and every action is allowed."""
    loadedAt: Optional[str]
    """UTC, with milliseconds."""
    files: List[str]
    rules: int
    factors: int
    domains: List[str]
    actions: List[str]
    current: bool
    """False when the newest files have faults, or there are none."""
    watching: bool
    """False when folders are read only when someone asks for it."""
    checkedAt: Optional[str]
    """UTC, with milliseconds."""
    faults: List[str]
    """Reasons why the newest files are not in force."""
    diagnostics: List[Diagnostic]
    groupsWithoutKeys: List[str]
    """Approver groups of the set in force that no active key belongs to: such holds wait until they
    expire.
    """


class PolicyTextsFilesItem(TypedDict):
    name: str
    bytes: int
    text: Optional[str]
    """Null of a file with which the texts would exceed 8 MiB."""


class PolicyTextsListsItem(TypedDict):
    path: str
    """As the policy writes it."""
    bytes: int


class PolicyTexts(TypedDict):
    """Files and lists of the policy set in force; none without a set."""

    digest: Optional[str]
    files: List[PolicyTextsFilesItem]
    """The policy files, in the order in which they are read."""
    lists: List[PolicyTextsListsItem]
    diagnostics: List[Diagnostic]
    """Diagnostics of the newest files, which may differ from these."""


class PolicyValidation(TypedDict):
    """The policy set as it would be, and its faults."""

    valid: bool
    """True when no diagnostic is an error."""
    digest: Optional[str]
    files: List[str]
    """The policy files, in the order in which they are read."""
    rules: int
    """0 unless valid."""
    factors: int
    """0 unless valid."""
    diagnostics: List[Diagnostic]


class PosturePolicies(TypedDict):
    inForce: bool
    digest: Optional[str]
    mode: Optional[Literal["enforce", "observe"]]
    """`observe`: the policies decide and record, and every action is allowed."""
    loadedAt: Optional[str]
    """UTC, with milliseconds."""
    current: bool
    """False when the newest files have faults, or there are none."""
    faults: int


class PostureKillSwitch(TypedDict):
    active: bool
    level: Optional[Literal["L1", "L2", "L3", "L4"]]
    """L1 an action, L2 a domain, L3 the tenant, L4 everything."""
    scope: Optional[str]


class Posture(TypedDict):
    """Enforcement that is in force now."""

    policies: PosturePolicies
    killSwitch: PostureKillSwitch
    environment: Environment
    version: str
    watching: bool
    """False when policies are read only when someone asks for it."""
    failModes: List[FailMode]
    """Behaviour where something is missing or broken, in sentences."""


class _PreviewStopRequest(TypedDict):
    level: KillSwitchLevel


class PreviewStopRequest(_PreviewStopRequest, total=False):
    scope: str
    """L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none."""


class RangeVerification(TypedDict):
    valid: bool
    status: Literal[
        "ok",
        "unanchored",
        "empty",
        "tampered",
        "broken-link",
        "unsealed",
        "unsigned",
        "truncated",
        "pruned",
        "unlawful",
        "forked",
        "rollback",
    ]
    """`ok`: all entries follow one another, and an external anchor has all of them. `unanchored`:
    all entries follow one another; for those that are in no external anchor yet, only this service
    vouches. `empty`: there is no entry, and the entries on both sides follow one another.
    `tampered`: the content of an entry was changed, or the tree is not the signed one.
    `broken-link`: an entry is missing, or does not follow from the one before it. `unsealed`: the
    newest entries were not appended by the holder of the log key. `unsigned`: entries are unsigned
    for longer than a running service leaves them, and the log key is not available. `truncated`:
    signed entries are missing at the start or the end. `pruned`: the range begins before the oldest
    entry that is left; what is left of it follows. `unlawful`: an entry records something that was
    not permitted; the entry itself is intact and signed. `forked`: an anchor holds another history.
    `rollback`: an anchor holds more entries than there are.
    """
    entriesChecked: int
    firstEntry: str
    """Empty for an empty range."""
    lastEntry: str
    """Empty for an empty range."""
    fault: Optional[str]
    """The first fault."""
    firstBadSeq: Optional[int]
    firstBadChain: Optional[str]
    """The chain of that entry: of the tenant, a lane, or `_system`."""
    unlawfulEntries: int
    """Entries that record something that was not permitted, besides any other fault."""
    redactedEntries: int
    """Entries of the range with a section that was erased by a command."""
    unanchoredEntries: int
    """Entries of the range that no anchor holds."""
    unsignedEntries: int
    """Entries of the range after the newest checkpoint that counts."""
    signedEntries: int
    """Number of entries, from the first one on, that it covers."""
    anchoredEntries: int
    """Number of entries, from the first one on, that an anchor covers."""
    sealed: Optional[bool]
    """Whether the holder of the log key appended the newest entry; null without the key."""


class ReadinessVerified(TypedDict):
    at: str
    """UTC, with milliseconds."""
    valid: bool
    chains: int


class ReadinessAnchorsSinksItem(TypedDict):
    sink: Literal["file", "webhook"]
    ok: bool
    """False if the last attempt failed."""
    lastAt: Optional[str]
    """UTC, with milliseconds."""
    failure: Optional[str]


class ReadinessAnchors(TypedDict):
    unanchoredEntries: Optional[int]
    """Entries of the trail that no anchor covers; null without a sink."""
    sinks: List[ReadinessAnchorsSinksItem]


class Readiness(TypedDict):
    ready: bool
    policySetsOutdated: int
    """Sets whose newest files have faults."""
    verified: Optional[ReadinessVerified]
    """Last verification of all audit chains by the service; null before the first."""
    anchors: ReadinessAnchors


class RecordedDecisionApproval(TypedDict):
    id: str
    """Approval that it waited for, or used."""
    status: Optional[Literal["pending", "approved", "rejected", "expired", "cancelled", "consumed"]]


class RecordedDecisionOutcome(TypedDict):
    status: Literal["succeeded", "failed", "not_run", "missing"]
    """`failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports
    outcomes, reported none in time.
    """
    possibleBypass: bool
    """It ran without an allow, or its outcome never came."""
    observed: bool
    """The caller said that it only watches and runs actions whatever is decided."""
    durationMs: Optional[int]
    error: Optional[str]
    """As the caller put it; null also where it has been erased."""
    recordedAt: str
    """UTC, with milliseconds."""
    entryId: str
    """Id of its audit entry."""


class RecordedDecisionExplanationThresholds(TypedDict):
    requireApproval: float
    deny: float


class RecordedDecisionExplanation(TypedDict):
    domain: Optional[str]
    """Domain of the action; null when it is in none."""
    killSwitch: Optional[str]
    """Reason of the stop that covers the action; null when none does."""
    request: ExplainedRequest
    thresholds: Optional[RecordedDecisionExplanationThresholds]
    """Risk scores from which an action needs approval, and is denied."""
    rules: List[ExplainedRule]
    """The one that decides first, then those that match."""
    rulesLeftOut: int
    """Number of further ones that are not shown."""
    factors: List[ExplainedFactor]
    """Those that add something first."""
    factorsLeftOut: int
    """Number of further ones that are not shown."""


class RecordedDecisionUnexplained(TypedDict):
    code: Literal["redacted", "policy_not_kept", "policy_altered", "policy_unloadable"]
    message: str


class _RecordedDecision(TypedDict):
    id: str
    """As it was answered."""
    timestamp: str
    """UTC, with milliseconds."""
    action: str
    decision: Literal["allow", "deny", "require_approval"]
    reason: str
    rule: Optional[str]
    """The rule that decided, if one did."""
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    """The step of the order of decision that decided."""
    retry: Literal["never", "after_approval", "changed_request"]
    """Advice about when to ask again."""
    riskScore: float
    factors: List[RiskFactor]
    unevaluable: List[Unevaluable]
    planValidated: bool
    policyDigest: Optional[str]
    evaluatedAt: str
    """UTC, with milliseconds."""
    caller: DecisionCaller
    request: Optional[Dict[str, Any]]
    """As it came; null when it has been erased."""
    approval: Optional[RecordedDecisionApproval]
    """With its status now."""
    outcome: Optional[RecordedDecisionOutcome]
    """Outcome of the action; null while nothing is known."""
    chain: str
    seq: int
    entryId: str
    """Id of its audit entry."""
    hash: str
    previousHash: str
    verified: bool
    """The entry hashes to what it did, and joins its neighbours."""
    fault: Optional[str]
    """Fault of the entry; null without one."""
    explanation: Optional[RecordedDecisionExplanation]
    """Rules and risk factors about the action with the values that they saw, in bounded size."""
    reproduced: Optional[bool]
    """The policies that decided give the same again; null when it cannot be explained."""
    differences: List[Difference]
    unexplained: Optional[RecordedDecisionUnexplained]
    """Reason why it cannot be explained."""


class RecordedDecision(_RecordedDecision, total=False):
    """Record of a decision and its explanation: evaluated again by the policies that decided."""

    observed: Literal["allow", "deny", "require_approval"]
    """Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow`
    then.
    """
    shadow: ShadowNote


class _RecoverRequest(TypedDict):
    recovered_by: str
    comment: str


class RecoverRequest(_RecoverRequest, total=False):
    id: str
    """Id of the stop to end: a stop that has replaced it stays in force."""
    level: KillSwitchLevel
    scope: str
    """L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none."""


class _RejectRequest(TypedDict):
    approver_id: str


class RejectRequest(_RejectRequest, total=False):
    reason: str


class ReloadPoliciesRequest(TypedDict):
    pass


class ReplayReportUnknown(TypedDict):
    erased: int
    """the request, or one that its policies count, has been erased"""
    pruned: int
    """its policies count actions of a time that has been pruned, or that was not read"""


ReplayReportMatrixItem = TypedDict(
    "ReplayReportMatrixItem",
    {
        "from": "Literal['allow', 'deny', 'require_approval', 'none']",
        "to": "Literal['allow', 'deny', 'require_approval']",
        "count": "int",
    },
)


class ReplayReportRulesItem(TypedDict):
    rule: str
    before: int
    after: int


class ReplayReportFactorsItem(TypedDict):
    name: str
    before: float
    after: float
    changed: int


class ReplayReportScores(TypedDict):
    higher: int
    lower: int
    same: int
    meanBefore: Optional[float]
    meanAfter: Optional[float]


class ReplayReportUnevaluableFactsItem(TypedDict):
    fact: str
    of: List[str]
    count: int
    first: str


class ReplayReportUnevaluable(TypedDict):
    decisions: int
    facts: List[ReplayReportUnevaluableFactsItem]


class ReplayReport(TypedDict):
    decided: int
    """Requests that were decided again."""
    changed: int
    """Requests of which the draft decides otherwise."""
    stopped: int
    """Decisions of stops, which no policy changes."""
    unknown: ReplayReportUnknown
    """Requests that cannot be decided again, by reason."""
    assumed: int
    """Decided by what is left of a session."""
    matrix: List[ReplayReportMatrixItem]
    kinds: List[ReplayKind]
    """Other decisions first, then other grounds, each by number."""
    kindsLeftOut: int
    """Requests of further kinds."""
    rules: List[ReplayReportRulesItem]
    factors: List[ReplayReportFactorsItem]
    scores: ReplayReportScores
    unevaluable: ReplayReportUnevaluable
    changesLeftOut: int
    """Changed decisions that are counted and not listed."""


class ReplaySeal(TypedDict):
    entryId: str
    """Id of the entry."""
    report: str
    """SHA-256 of `report`, as canonical JSON (RFC 8785)."""


Replay = TypedDict(
    "Replay",
    {
        "id": "str",
        "status": "Literal['waiting', 'running', 'done', 'failed', 'cancelled']",
        "createdAt": "str",
        "from": "str",
        "to": "Optional[str]",
        "history": "Literal['recorded', 'draft']",
        "action": "Optional[str]",
        "sample": "Optional[int]",
        "read": "int",
        "total": "int",
        "policyDigest": "Optional[str]",
        "diagnostics": "List[Diagnostic]",
        "fault": "Optional[str]",
        "report": "Optional[ReplayReport]",
        "seal": "Optional[ReplaySeal]",
    },
)


class ReplayChangeBeforeThresholds(TypedDict):
    requireApproval: float
    deny: float


class ReplayChangeBefore(TypedDict):
    domain: Optional[str]
    """Domain of the action; null when it is in none."""
    killSwitch: Optional[str]
    """Reason of the stop that covers the action; null when none does."""
    request: ExplainedRequest
    thresholds: Optional[ReplayChangeBeforeThresholds]
    """Risk scores from which an action needs approval, and is denied."""
    rules: List[ExplainedRule]
    """The one that decides first, then those that match."""
    rulesLeftOut: int
    """Number of further ones that are not shown."""
    factors: List[ExplainedFactor]
    """Those that add something first."""
    factorsLeftOut: int
    """Number of further ones that are not shown."""


class ReplayChangeAfterThresholds(TypedDict):
    requireApproval: float
    deny: float


class ReplayChangeAfter(TypedDict):
    domain: Optional[str]
    """Domain of the action; null when it is in none."""
    killSwitch: Optional[str]
    """Reason of the stop that covers the action; null when none does."""
    request: ExplainedRequest
    thresholds: Optional[ReplayChangeAfterThresholds]
    """Risk scores from which an action needs approval, and is denied."""
    rules: List[ExplainedRule]
    """The one that decides first, then those that match."""
    rulesLeftOut: int
    """Number of further ones that are not shown."""
    factors: List[ExplainedFactor]
    """Those that add something first."""
    factorsLeftOut: int
    """Number of further ones that are not shown."""


ReplayChange = TypedDict(
    "ReplayChange",
    {
        "id": "str",
        "timestamp": "str",
        "action": "str",
        "agent": "str",
        "from": "ReplaySide",
        "to": "ReplaySide",
        "assumed": "bool",
        "before": "Optional[ReplayChangeBefore]",
        "after": "Optional[ReplayChangeAfter]",
    },
)


class ReplayKindFrom(TypedDict):
    decision: Literal["allow", "deny", "require_approval", "none"]
    """The decision that was recorded; `none` where only the request was."""
    decidedBy: Optional[
        Literal[
            "kill_switch",
            "no_policy",
            "invalid_context",
            "deny_rule",
            "risk",
            "hold_rule",
            "allow_rule",
            "default",
            "approval",
        ]
    ]
    rule: Optional[str]


class ReplayKindTo(TypedDict):
    decision: Literal["allow", "deny", "require_approval", "none"]
    """The decision that was recorded; `none` where only the request was."""
    decidedBy: Optional[
        Literal[
            "kill_switch",
            "no_policy",
            "invalid_context",
            "deny_rule",
            "risk",
            "hold_rule",
            "allow_rule",
            "default",
            "approval",
        ]
    ]
    rule: Optional[str]


ReplayKind = TypedDict(
    "ReplayKind",
    {
        "from": "ReplayKindFrom",
        "to": "ReplayKindTo",
        "count": "int",
        "first": "ReplayChange",
    },
)


class _ReplayPoliciesRequest(TypedDict):
    files: Sequence[PolicyFile]
    """Policies and tests, in any order."""


class ReplayPoliciesRequest(_ReplayPoliciesRequest, total=False):
    lists: Sequence[PolicyList]
    """The list files that the policies name."""
    from_: str
    """Requests from this time on; without it, those of the last 24 hours."""
    to: str
    """Requests before this time."""
    action: str
    """Only this action, or those of a glob: `payment.*`."""
    sample: int
    """About this number of requests, evenly spread."""
    history: Literal["recorded", "draft"]
    """Earlier actions that facts over time count: those that were allowed, or those that the draft
    would have allowed. `recorded` without it.
    """


class ReplaySide(TypedDict):
    """One side of a comparison; null where no decision was recorded."""

    decision: Literal["allow", "deny", "require_approval", "none"]
    """The decision that was recorded; `none` where only the request was."""
    decidedBy: Optional[
        Literal[
            "kill_switch",
            "no_policy",
            "invalid_context",
            "deny_rule",
            "risk",
            "hold_rule",
            "allow_rule",
            "default",
            "approval",
        ]
    ]
    rule: Optional[str]
    reason: Optional[str]
    riskScore: Optional[float]


class RiskAssessment(TypedDict):
    """The sum of the factors, without a decision."""

    score: float
    factors: List[RiskFactor]


class RiskFactor(TypedDict):
    """One factor of a risk score, in points."""

    name: str
    weight: float
    """The most that it can contribute."""
    contribution: float


class _RiskRequest(TypedDict):
    action: str
    """Action type, such as payment.transfer."""


class RiskRequest(_RiskRequest, total=False):
    context: Mapping[str, Any]
    plan: Mapping[str, Any]


Role = Literal["agent", "approver", "auditor", "operator", "owner", "admin"]


class RotateKeyRequest(TypedDict, total=False):
    overlap_minutes: int
    """Minutes during which the old secret still works, at most 30 days; 0 ends it now. 1440 (a day)
    if not given.
    """


class RotatedKey(TypedDict):
    """A new key with its secret, and the one that it replaces."""

    id: str
    """Names the key; not a secret."""
    tenantId: Optional[str]
    """null for admin keys, which reach every tenant."""
    environment: Environment
    roles: List[Role]
    identity: Optional[str]
    """Holder of the key; approvals by one identity count once."""
    groups: List[str]
    name: Optional[str]
    createdAt: str
    """UTC, with milliseconds."""
    createdBy: str
    """The key that made it, or `host:<uid>`."""
    expiresAt: Optional[str]
    """UTC, with milliseconds."""
    revokedAt: Optional[str]
    """UTC, with milliseconds."""
    rotatedFrom: Optional[str]
    """The first key of its line, when it came by rotation."""
    rotatedBy: Optional[str]
    """Key of another holder that created its secret, or the secret of an earlier key of its line.
    """
    replacedBy: Optional[str]
    """The key that came after it by rotation."""
    key: str
    """Shown this once."""
    replaces: Key


class _ShadowNote(TypedDict):
    digest: str


class ShadowNote(_ShadowNote, total=False):
    """The set in shadow, and what it says; absent where none was."""

    decision: Literal["allow", "deny", "require_approval"]
    """Its decision, where that differs."""
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    rule: Optional[str]
    failed: Literal["error", "work", "time"]
    """Reason why it said nothing."""


ShadowStateComparisonMatrixItem = TypedDict(
    "ShadowStateComparisonMatrixItem",
    {
        "from": "Literal['allow', 'deny', 'require_approval']",
        "to": "Literal['allow', 'deny', 'require_approval']",
        "count": "int",
    },
)


class ShadowStateComparisonFailedItem(TypedDict):
    why: Literal["error", "work", "time"]
    count: int


class ShadowStateComparison(TypedDict):
    decisions: int
    """Decisions that it was asked about."""
    matrix: List[ShadowStateComparisonMatrixItem]
    """Without empty cells."""
    failed: List[ShadowStateComparisonFailedItem]
    """Decisions on which it said nothing, by the cause."""
    complete: bool
    """False while a long trail is still counted: the next answer has more of it."""


class ShadowState(TypedDict):
    """The set in shadow, which is asked beside the one in force."""

    digest: Optional[str]
    origin: Optional[Literal["folder", "rules"]]
    """`folder`: a folder of its own; `rules`: the set in force, with its rules in shadow enforced.
    """
    since: Optional[str]
    """Time at which it came into shadow."""
    rules: List[str]
    """Rules of the set in force that are in shadow, where no folder is."""
    comparison: Optional[ShadowStateComparison]
    """Decisions of a trail, and of the set in shadow."""
    faults: List[str]
    """Reasons why the folder gives no set."""
    diagnostics: List[Diagnostic]


class ShownValue(TypedDict, total=False):
    """A value: whole as `value`, or, where its JSON is long, by its `beginning` and how many
    `characters` it has.
    """

    value: Any
    beginning: str
    characters: int


class Sidecar(TypedDict):
    lane: int
    """Number of the lanes to which it appends."""
    name: str
    """Name of its host or pod, or what the setting `name` says; text of others."""
    version: str
    startedAt: str
    """UTC, with milliseconds."""
    heardAt: str
    """UTC, with milliseconds."""
    isLive: bool
    """False once it has not been heard of for ten seconds, and once it has ended."""
    isSelf: bool
    """True for the one that answers."""
    policyDigest: Optional[str]


class SidecarsByDigest(TypedDict):
    digest: Optional[str]
    sidecars: int


class SidecarsByVersion(TypedDict):
    version: str
    sidecars: int


class SignInLink(TypedDict):
    url: str
    """The web console, with the code in the fragment, which browsers do not send."""
    expiresAt: str
    """UTC, with milliseconds."""


class SignedInSession(TypedDict):
    id: str
    """Names the session in the trail."""
    startedAt: str
    """UTC, with milliseconds."""
    idleEndsAt: str
    """End of the session, unless its user does something before."""
    endsAt: str
    """Latest end of the session."""


class SignedIn(TypedDict):
    """The caller, and what it may do."""

    keyId: str
    """The key that the session was opened with, or that asks."""
    name: Optional[str]
    identity: Optional[str]
    """Holder of the key: approvals are recorded under this identity."""
    principal: str
    """Principal of votes and requests with the key: its identity, else the first key of its line.
    """
    groups: List[str]
    roles: List[Role]
    environment: Environment
    tenants: List[str]
    """Those that `x-tenant-id` may name, at most 1,000."""
    may: List[Operation]
    """The operations that the roles allow."""
    session: Optional[SignedInSession]
    """Null for a caller with a key."""


class TimelineItemActor(TypedDict):
    kind: Literal["key", "host", "service"]
    id: str
    """Id of the key, of the user on the host, or of the service."""
    identity: Optional[str]
    """Holder of the key."""
    name: Optional[str]
    """Name of the key."""


class _TimelineItemDecision(TypedDict):
    action: str
    decision: Literal["allow", "deny", "require_approval"]
    reason: str
    rule: Optional[str]
    decidedBy: Literal[
        "kill_switch",
        "no_policy",
        "invalid_context",
        "deny_rule",
        "risk",
        "hold_rule",
        "allow_rule",
        "default",
        "approval",
    ]
    """The step of the order of decision that decided."""
    riskScore: float


class TimelineItemDecision(_TimelineItemDecision, total=False):
    observed: Literal["allow", "deny", "require_approval"]
    """Decision of the policies, if they are only observed (`mode: observe`); `decision` is `allow`
    then.
    """


class TimelineItemHold(TypedDict):
    requestedBy: str
    quorum: int
    expiresAt: str
    """UTC, with milliseconds."""


class TimelineItemVote(TypedDict):
    principal: str
    approverId: str
    comment: Optional[str]


class TimelineItemStop(TypedDict):
    id: str
    """Id of the stop."""
    level: KillSwitchLevel
    scope: str


class TimelineItemOutcome(TypedDict):
    status: Literal["succeeded", "failed", "not_run", "missing"]
    """`failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports
    outcomes, reported none in time.
    """
    possibleBypass: bool
    """It ran without an allow, or its outcome never came."""
    observed: bool
    """The caller said that it only watches and runs actions whatever is decided."""
    durationMs: Optional[int]
    error: Optional[str]
    """As the caller put it; null also where it has been erased."""
    recordedAt: str
    """UTC, with milliseconds."""
    entryId: str
    """Id of its audit entry."""


class TimelineItem(TypedDict):
    """Event of an action, as one audit entry records it."""

    at: str
    """UTC, with milliseconds."""
    seq: int
    entryId: str
    """Id of the audit entry that records it."""
    event: Literal[
        "gate.decision",
        "approval.requested",
        "approval.approved",
        "approval.rejected",
        "approval.expired",
        "approval.cancelled",
        "approval.consumed",
        "outcome.recorded",
        "outcome.missing",
    ]
    actor: Optional[TimelineItemActor]
    """Actor that caused an entry."""
    decisionId: Optional[str]
    """The decision that it is, that asked for or used the approval, or whose outcome it is."""
    decision: Optional[TimelineItemDecision]
    """Decision of `gate.decision`; null for other events, and where it is not there any more."""
    hold: Optional[TimelineItemHold]
    """Terms of the approval, for `approval.requested`."""
    vote: Optional[TimelineItemVote]
    """Vote of `approval.approved` or `approval.rejected`."""
    approvalStatus: Optional[
        Literal[
            "pending",
            "approved",
            "rejected",
            "expired",
            "cancelled",
            "consumed",
        ]
    ]
    """Status of the approval after this entry: a vote that does not decide leaves it pending."""
    stop: Optional[TimelineItemStop]
    """Stop that cancelled the approval, for `approval.cancelled`; null where a person did."""
    outcome: Optional[TimelineItemOutcome]
    """Outcome of `outcome.recorded` or `outcome.missing`."""


class _TriggerRequest(TypedDict):
    level: KillSwitchLevel
    reason: str
    triggered_by: str


class TriggerRequest(_TriggerRequest, total=False):
    scope: str
    """L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none."""


class _TriggeredKillSwitch(TypedDict):
    active: bool
    level: Optional[Literal["L1", "L2", "L3", "L4"]]
    """L1 an action, L2 a domain, L3 the tenant, L4 everything."""
    scope: Optional[str]
    """L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`."""
    switches: List[KillSwitch]
    """Every stop in force over the tenant, strongest first."""
    covers: List[str]
    """Declared and recently used actions that the stop covers."""
    warning: Optional[str]
    """Warning that an L1 stop covers none of them, or that the store cannot be written; otherwise
    null.
    """
    persisted: bool
    """False while the store cannot be written: the stop is in force, and writing is retried each
    second. `warning` says whether the stop outlives a restart.
    """


class TriggeredKillSwitch(_TriggeredKillSwitch, total=False):
    """The status after the trigger, and what the stop covers."""

    triggeredAt: str
    """UTC, with milliseconds."""
    triggeredBy: str
    """As claimed in the request."""
    reason: str


class TrustBundleDecision(TypedDict):
    id: str
    action: str
    decision: str
    timestamp: str


class TrustBundleContext(TypedDict):
    originalRequest: Dict[str, Any]
    riskAssessment: Dict[str, Any]


class TrustBundleAuditChainItem(TypedDict):
    hash: str
    previousHash: str


class TrustBundleProofEntriesItem(TypedDict):
    chain: str
    commits: Dict[str, str]
    id: str
    prev: str
    seq: int
    ts: str
    type: str
    v: Literal[1]


class _TrustBundleProofOpenings(TypedDict):
    decision: str
    grounds: str


class TrustBundleProofOpenings(_TrustBundleProofOpenings, total=False):
    request: str
    risk: str


class TrustBundleProofApprovalItemHeader(TypedDict):
    chain: str
    commits: Dict[str, str]
    id: str
    prev: str
    seq: int
    ts: str
    type: str
    v: Literal[1]


class TrustBundleProofApprovalItem(TypedDict):
    header: TrustBundleProofApprovalItemHeader
    data: Dict[str, Any]
    salt: str
    inclusion: List[str]


class TrustBundleProofKeysItemHeader(TypedDict):
    chain: str
    commits: Dict[str, str]
    id: str
    prev: str
    seq: int
    ts: str
    type: str
    v: Literal[1]


class TrustBundleProofKeysItem(TypedDict):
    header: TrustBundleProofKeysItemHeader
    data: Dict[str, Any]
    salt: str
    inclusion: List[str]


class TrustBundleProofCertificateStatement(TypedDict):
    origin: str
    purpose: Literal["bundle"]
    publicKey: str
    notBefore: str
    notAfter: str


class TrustBundleProofCertificate(TypedDict):
    statement: TrustBundleProofCertificateStatement
    signedBy: str
    signature: str


TrustBundleProofRotationsItemStatement = TypedDict(
    "TrustBundleProofRotationsItemStatement",
    {
        "origin": "str",
        "from": "str",
        "to": "str",
        "at": "str",
    },
)


TrustBundleProofRotationsItemSignatures = TypedDict(
    "TrustBundleProofRotationsItemSignatures",
    {
        "from": "str",
        "to": "str",
    },
)


class TrustBundleProofRotationsItem(TypedDict):
    statement: TrustBundleProofRotationsItemStatement
    signatures: TrustBundleProofRotationsItemSignatures


class TrustBundleProof(TypedDict):
    v: Literal[1]
    origin: str
    entries: List[TrustBundleProofEntriesItem]
    inclusion: List[str]
    checkpoint: str
    grounds: Dict[str, Any]
    openings: TrustBundleProofOpenings
    approval: List[TrustBundleProofApprovalItem]
    keys: List[TrustBundleProofKeysItem]
    beside: List[str]
    certificate: TrustBundleProofCertificate
    rotations: List[TrustBundleProofRotationsItem]
    redacted: List[str]


class TrustBundleSignaturesService(TypedDict):
    algorithm: str
    publicKey: str
    signature: str


class TrustBundleSignatures(TypedDict):
    service: TrustBundleSignaturesService


class TrustBundle(TypedDict):
    bundleId: str
    version: str
    decision: TrustBundleDecision
    context: TrustBundleContext
    auditChain: List[TrustBundleAuditChainItem]
    exportedAt: str
    proof: TrustBundleProof
    signatures: TrustBundleSignatures


class _Unevaluable(TypedDict):
    kind: Literal["rule", "factor"]
    """Kind of what could not be evaluated."""
    name: str
    facts: List[str]
    """The facts that were missing or of another type."""


class Unevaluable(_Unevaluable, total=False):
    """A rule or factor that could not be evaluated: rules that restrain apply, those that permit do
    not.
    """

    overBudget: List[str]
    """The facts whose comparison takes more work than one check may do."""


class UsageKeys(TypedDict):
    active: int
    ended: int


class Usage(TypedDict):
    """The tenant's plan, and what is used of it in the environment of the key."""

    plan: Literal["free", "pro", "enterprise"]
    environment: Environment
    requestsPerMinute: Optional[int]
    """Requests that the plan allows; null for no limit."""
    remaining: Optional[int]
    """Remaining requests, as counted by this process; null for no limit."""
    statusRequestsPerMinute: int
    """Status reads that each key may make."""
    keys: UsageKeys
    """Keys of this environment; revoked or expired ones have ended."""


class _ValidatePoliciesRequest(TypedDict):
    files: Sequence[PolicyFile]
    """Policies and tests, in any order."""


class ValidatePoliciesRequest(_ValidatePoliciesRequest, total=False):
    lists: Sequence[PolicyList]
    """The list files that the policies name."""


class VerifyBundleRequest(TypedDict):
    bundle: Mapping[str, Any]


class VerifyRequest(TypedDict):
    start_date: str
    """YYYY-MM-DD, UTC"""
    end_date: str
    """YYYY-MM-DD, UTC"""


class Vote(TypedDict):
    principal: str
    """The voting key's identity, else its id: what is counted."""
    approverId: str
    """As the voter claimed it."""
    comment: Optional[str]
    votedAt: str
    """UTC, with milliseconds."""
    counts: bool
    """True for a vote that counts towards the quorum. While the approval is open, a vote no longer
    counts when its key has ended or was made by another voter's key. Once it is settled, one vote
    of each person for it counts. A vote that rejects does not count.
    """


class FailureDetailsItem(TypedDict):
    path: str
    """A JSON pointer."""
    message: str


class _Failure(TypedDict):
    success: Literal[False]
    error: Literal[
        "invalid_request",
        "invalid_json",
        "not_requestable",
        "invalid_denial_binding",
        "unauthenticated",
        "forbidden",
        "origin_not_allowed",
        "tenant_mismatch",
        "approver_mismatch",
        "self_approval",
        "not_found",
        "method_not_allowed",
        "approval_not_pending",
        "approval_expired",
        "kill_switch_active",
        "kill_switch_inactive",
        "idempotency_conflict",
        "outcome_conflict",
        "expired_denial",
        "archived",
        "redacted",
        "payload_too_large",
        "unsupported_media_type",
        "host_not_allowed",
        "rate_limited",
        "internal",
        "audit_unavailable",
        "overloaded",
        "not_ready",
    ]
    """Error code that clients switch on."""
    message: str
    """A sentence for people."""
    requestId: str


class Failure(_Failure, total=False):
    details: List[FailureDetailsItem]
    """Faults of the request, each with its place."""


class Page(TypedDict):
    """Position of the page: the next one begins at `offset + limit`. A page of large items ends
    early, and `limit` says so.
    """

    limit: int
    offset: int
    total: int


class ApprovalPage(TypedDict):
    data: List[Approval]
    page: Page


class AuditEntryPage(TypedDict):
    data: List[AuditEntry]
    page: Page


class PastKillSwitchPage(TypedDict):
    data: List[PastKillSwitch]
    page: Page


class DecisionPagePage(TypedDict):
    next: Optional[str]
    """`before` of the next page: an audit entry; null when nothing is left to look at."""
    searchedTo: Optional[str]
    """Time back to which decisions were searched; null with `next`."""


class DecisionPage(TypedDict):
    data: List[ListedDecision]
    page: DecisionPagePage


class ReplayChangePage(TypedDict):
    data: List[ReplayChange]
    page: Page


class Route(NamedTuple):
    """Call of a route."""

    method: str
    path: str
    repeat: Literal["with_key", "as_is", "never"]
    """May the request be sent again: under its Idempotency-Key, as it is, or not at all."""
    form: Literal["object", "list", "page", "cursor", "json", "text"]
    """Form of the answer: `data` in an envelope, or alone."""


ROUTES: Final[Mapping[str, Route]] = {
    "check": Route("POST", "/gate/check", "with_key", "object"),
    "risk": Route("POST", "/gate/risk", "as_is", "object"),
    "outcome": Route("POST", "/gate/outcome", "with_key", "object"),
    "listApprovals": Route("GET", "/approvals", "as_is", "page"),
    "getApproval": Route("GET", "/approvals/:id", "as_is", "object"),
    "approve": Route("POST", "/approvals/:id/approve", "with_key", "object"),
    "reject": Route("POST", "/approvals/:id/reject", "with_key", "object"),
    "cancelApproval": Route("POST", "/approvals/:id/cancel", "never", "object"),
    "auditChain": Route("GET", "/audit/chain", "as_is", "page"),
    "auditVerify": Route("POST", "/audit/verify", "as_is", "object"),
    "auditVerifyLive": Route("GET", "/audit/verify", "as_is", "text"),
    "auditLog": Route("POST", "/audit/log", "with_key", "object"),
    "getDecision": Route("GET", "/decisions/:id", "as_is", "object"),
    "exportBundle": Route("GET", "/evidence/bundle/:id", "as_is", "object"),
    "verifyBundle": Route("POST", "/evidence/verify", "as_is", "object"),
    "killSwitchStatus": Route("GET", "/killswitch/status", "as_is", "object"),
    "trigger": Route("POST", "/killswitch/trigger", "with_key", "object"),
    "recover": Route("POST", "/killswitch/recover", "with_key", "object"),
    "listKeys": Route("GET", "/keys", "as_is", "list"),
    "createKey": Route("POST", "/keys", "never", "object"),
    "revokeKey": Route("DELETE", "/keys/:id", "as_is", "object"),
    "listPolicies": Route("GET", "/policies", "as_is", "object"),
    "validatePolicies": Route("POST", "/policies/validate", "as_is", "object"),
    "reloadPolicies": Route("POST", "/policies/reload", "as_is", "object"),
    "events": Route("GET", "/events", "as_is", "text"),
    "openapi": Route("GET", "/openapi.json", "as_is", "json"),
    "healthz": Route("GET", "/healthz", "as_is", "object"),
    "readyz": Route("GET", "/readyz", "as_is", "object"),
    "metrics": Route("GET", "/metrics", "as_is", "text"),
    "openSession": Route("POST", "/session", "never", "object"),
    "getSession": Route("GET", "/session", "as_is", "object"),
    "endSession": Route("DELETE", "/session", "as_is", "object"),
    "signInCode": Route("POST", "/session/code", "never", "object"),
    "rotateKey": Route("POST", "/keys/:id/rotate", "never", "object"),
    "usage": Route("GET", "/usage", "as_is", "object"),
    "previewStop": Route("POST", "/killswitch/preview", "as_is", "object"),
    "killSwitchHistory": Route("GET", "/killswitch/history", "as_is", "page"),
    "listDecisions": Route("GET", "/decisions", "as_is", "cursor"),
    "decisionTimeline": Route("GET", "/decisions/:id/timeline", "as_is", "object"),
    "approvalBackground": Route("GET", "/approvals/:id/background", "as_is", "object"),
    "overview": Route("GET", "/overview", "as_is", "object"),
    "shadowPolicies": Route("GET", "/policies/shadow", "as_is", "object"),
    "policySource": Route("GET", "/policies/source", "as_is", "object"),
    "dryRun": Route("POST", "/policies/dry-run", "as_is", "object"),
    "replayPolicies": Route("POST", "/policies/replay", "as_is", "object"),
    "getReplay": Route("GET", "/policies/replay/:id", "as_is", "object"),
    "cancelReplay": Route("DELETE", "/policies/replay/:id", "as_is", "object"),
    "replayChanges": Route("GET", "/policies/replay/:id/changes", "as_is", "page"),
    "sealReplay": Route("POST", "/policies/replay/:id/seal", "never", "object"),
    "exportPolicyChange": Route("GET", "/evidence/policy-change/:id", "as_is", "object"),
}
