# Written by `npm run docs` from the OpenAPI document of the service. Do not edit.
"""The endpoints as methods, for `GateClient` and for `AsyncGateClient`."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, List, Literal, Mapping, Optional, Union, cast

from .types import (
    Approval,
    ApprovalBackground,
    ApprovalPage,
    ApproveRequest,
    AuditEntry,
    AuditEntryPage,
    BundleVerification,
    CreatedKey,
    CreateKeyRequest,
    DecisionPage,
    DecisionTimeline,
    DryRun,
    DryRunRequest,
    Envelope,
    Health,
    Key,
    KillSwitchPreview,
    KillSwitchStatus,
    ListedKey,
    LogRequest,
    Outcome,
    OutcomeRequest,
    Overview,
    PastKillSwitchPage,
    PolicyChange,
    PolicyState,
    PolicyTexts,
    PolicyValidation,
    PreviewStopRequest,
    RangeVerification,
    Readiness,
    RecordedDecision,
    RecoverRequest,
    RejectRequest,
    Replay,
    ReplayChangePage,
    ReplayPoliciesRequest,
    RiskAssessment,
    RiskRequest,
    RotatedKey,
    RotateKeyRequest,
    ShadowState,
    SignedIn,
    SignInLink,
    TriggeredKillSwitch,
    TriggerRequest,
    TrustBundle,
    Usage,
    ValidatePoliciesRequest,
    VerifyRequest,
)


class ApprovalsEndpoints:
    """Endpoints under `approvals` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        status: Optional[
            Literal[
                "pending",
                "approved",
                "rejected",
                "expired",
                "cancelled",
                "consumed",
            ]
        ] = None,
    ) -> ApprovalPage:
        """Pending approvals; `status`, `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `status`: Pending ones without it.
        """
        answer = self._call(
            "listApprovals",
            query={"limit": limit, "offset": offset, "status": status},
        )
        return cast(ApprovalPage, answer)

    def get(self, id: str) -> Approval:
        """One approval; `?wait=25` waits until it is decided."""
        answer = self._call("getApproval", params={"id": id})
        return cast(Approval, answer)

    def background(self, id: str) -> ApprovalBackground:
        """Context for the decision on an approval: its rule, what its agent did, whether this key
        may vote.
        """
        answer = self._call("approvalBackground", params={"id": id})
        return cast(ApprovalBackground, answer)

    def approve(
        self,
        id: str,
        request: ApproveRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Votes for a held request."""
        answer = self._call(
            "approve",
            params={"id": id},
            body=request,
            idempotency_key=idempotency_key,
        )
        return cast(Approval, answer)

    def reject(
        self,
        id: str,
        request: RejectRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Ends a held request."""
        answer = self._call(
            "reject",
            params={"id": id},
            body=request,
            idempotency_key=idempotency_key,
        )
        return cast(Approval, answer)

    def cancel(self, id: str) -> Approval:
        """Takes back an approval that was not used."""
        answer = self._call("cancelApproval", params={"id": id}, body={})
        return cast(Approval, answer)


class AuditEndpoints:
    """Endpoints under `audit` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def chain(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        before: Optional[str] = None,
        event_type: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
    ) -> AuditEntryPage:
        """Entries, newest first; `limit`, `offset`, `before`, `order`, `eventType`, `from`, `to`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `order`: Newest first without it.
        - `before`: Only entries before this place of the trail: the id of an entry, or
        `<chain>:<seq>`.
        - `event_type`: Only entries of this type.
        - `from_`: From this time on.
        - `to`: Before this time.
        """
        answer = self._call(
            "auditChain",
            query={
                "limit": limit,
                "offset": offset,
                "order": order,
                "before": before,
                "eventType": event_type,
                "from": from_,
                "to": to,
            },
        )
        return cast(AuditEntryPage, answer)

    def verify(self, request: VerifyRequest) -> RangeVerification:
        """Recomputes the chain over a range of days."""
        answer = self._call("auditVerify", body=request)
        return cast(RangeVerification, answer)

    def log(self, request: LogRequest, *, idempotency_key: Optional[str] = None) -> AuditEntry:
        """Writes an entry of the caller's own."""
        answer = self._call("auditLog", body=request, idempotency_key=idempotency_key)
        return cast(AuditEntry, answer)


class DecisionsEndpoints:
    """Endpoints under `decisions` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(
        self,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        decision: Optional[Literal["allow", "deny", "require_approval"]] = None,
        observed: Optional[Literal["allow", "deny", "require_approval"]] = None,
        shadow: Optional[Literal["differs", "allow", "deny", "require_approval"]] = None,
        action: Optional[str] = None,
        decided_by: Optional[
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
        ] = None,
        rule: Optional[str] = None,
        agent: Optional[str] = None,
        session: Optional[str] = None,
        match: Optional[Literal["whole", "part"]] = None,
        min_risk: Optional[int] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
    ) -> DecisionPage:
        """Decisions, newest first, filtered by action, requester and outcome.

        - `limit`: Limit of decisions in the answer.
        - `before`: Only decisions before this place of the trail: `next` of the page before.
        - `decision`: The decision that was made.
        - `observed`: Decision of the policies, for decisions that were only observed.
        - `shadow`: Decision of the set in shadow, where it would have decided otherwise; `differs`
        for any of these.
        - `action`: An action, or a glob: `payment.*`.
        - `decided_by`: The step of the order of decision that decided.
        - `rule`: The rule that decided.
        - `agent`: Requester: its key's identity, else its key's id.
        - `session`: The session that the policies saw.
        - `match`: Comparison of `rule`, `agent` and `session`: `whole`, or `part` of the name,
        ignoring case.
        - `min_risk`: A risk score of this or more.
        - `from_`: From this time on.
        - `to`: Before this time.
        """
        answer = self._call(
            "listDecisions",
            query={
                "limit": limit,
                "before": before,
                "decision": decision,
                "observed": observed,
                "shadow": shadow,
                "action": action,
                "decidedBy": decided_by,
                "rule": rule,
                "agent": agent,
                "session": session,
                "match": match,
                "minRisk": min_risk,
                "from": from_,
                "to": to,
            },
        )
        return cast(DecisionPage, answer)

    def get(self, id: str) -> RecordedDecision:
        """A recorded decision, explained by the policies that decided."""
        answer = self._call("getDecision", params={"id": id})
        return cast(RecordedDecision, answer)

    def timeline(self, id: str) -> DecisionTimeline:
        """The history of an action, in order: held, voted on, approved, used, its outcome."""
        answer = self._call("decisionTimeline", params={"id": id})
        return cast(DecisionTimeline, answer)


class EvidenceEndpoints:
    """Endpoints under `evidence` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def bundle(
        self,
        id: str,
        *,
        format: Optional[Literal["bundle", "dsse"]] = None,
    ) -> Union[TrustBundle, Envelope]:
        """Signed trust bundle of a decision.

        - `format`: An envelope of DSSE in place of the bundle.
        """
        answer = self._call("exportBundle", params={"id": id}, query={"format": format})
        return cast(Union[TrustBundle, Envelope], answer)

    def policy_change(self, id: str) -> PolicyChange:
        """Signed entries about a policy set, by its digest: how it was tried, and put in force."""
        answer = self._call("exportPolicyChange", params={"id": id})
        return cast(PolicyChange, answer)

    def verify(self, bundle: Mapping[str, Any]) -> BundleVerification:
        """Verifies a bundle or a policy change; needs no `x-tenant-id`."""
        answer = self._call("verifyBundle", body={"bundle": bundle})
        return cast(BundleVerification, answer)


class KillSwitchEndpoints:
    """Endpoints under `kill_switch` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def status(self) -> KillSwitchStatus:
        """The strongest stop, and all of them."""
        answer = self._call("killSwitchStatus")
        return cast(KillSwitchStatus, answer)

    def history(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> PastKillSwitchPage:
        """Every stop, newest first, ended ones too; `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        """
        answer = self._call("killSwitchHistory", query={"limit": limit, "offset": offset})
        return cast(PastKillSwitchPage, answer)

    def preview(self, request: PreviewStopRequest) -> KillSwitchPreview:
        """Actions and approvals that a stop would cover; stops nothing."""
        answer = self._call("previewStop", body=request)
        return cast(KillSwitchPreview, answer)

    def trigger(
        self,
        request: TriggerRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TriggeredKillSwitch:
        """Stops an action (L1), a domain (L2), the tenant (L3), everything (L4, admin only)."""
        answer = self._call("trigger", body=request, idempotency_key=idempotency_key)
        return cast(TriggeredKillSwitch, answer)

    def recover(
        self,
        request: RecoverRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> KillSwitchStatus:
        """Ends a stop."""
        answer = self._call("recover", body=request, idempotency_key=idempotency_key)
        return cast(KillSwitchStatus, answer)


class KeysEndpoints:
    """Endpoints under `keys` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(self) -> List[ListedKey]:
        """Keys, without secrets."""
        answer = self._call("listKeys")
        return cast(List[ListedKey], answer)

    def create(self, request: CreateKeyRequest) -> CreatedKey:
        """Makes a key; its secret is in this answer only."""
        answer = self._call("createKey", body=request)
        return cast(CreatedKey, answer)

    def rotate(self, id: str, request: Optional[RotateKeyRequest] = None) -> RotatedKey:
        """Replaces a key by a new one of the same holder; its secret is in this answer only."""
        answer = self._call("rotateKey", params={"id": id}, body=request or {})
        return cast(RotatedKey, answer)

    def revoke(self, id: str) -> Key:
        """Ends a key."""
        answer = self._call("revokeKey", params={"id": id})
        return cast(Key, answer)


class PoliciesEndpoints:
    """Endpoints under `policies` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(self) -> PolicyState:
        """The policy set in force, and the faults of the newest files."""
        answer = self._call("listPolicies")
        return cast(PolicyState, answer)

    def validate(self, request: ValidatePoliciesRequest) -> PolicyValidation:
        """Every fault of policies that are sent as texts; opens no file and keeps nothing."""
        answer = self._call("validatePolicies", body=request)
        return cast(PolicyValidation, answer)

    def reload(self) -> PolicyState:
        """Reads the tenant's folder now, and answers with the result."""
        answer = self._call("reloadPolicies", body={})
        return cast(PolicyState, answer)

    def source(self) -> PolicyTexts:
        """The texts of the policy set in force, and the faults of the newest files."""
        answer = self._call("policySource")
        return cast(PolicyTexts, answer)

    def shadow(self) -> ShadowState:
        """The policy set in shadow, and what it would have decided otherwise."""
        answer = self._call("shadowPolicies")
        return cast(ShadowState, answer)

    def dry_run(self, request: DryRunRequest) -> DryRun:
        """The decision that the policies in force, or texts that are sent, would make; records
        nothing.
        """
        answer = self._call("dryRun", body=request)
        return cast(DryRun, answer)


class ReplaysEndpoints:
    """Endpoints under `replays` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def begin(self, request: ReplayPoliciesRequest) -> Replay:
        """Begins to decide recorded requests again with texts that are sent; records nothing."""
        answer = self._call("replayPolicies", body=request)
        return cast(Replay, answer)

    def get(self, id: str) -> Replay:
        """The progress of a replay, and its result: what the draft changes, by decision, rule,
        factor and fact.
        """
        answer = self._call("getReplay", params={"id": id})
        return cast(Replay, answer)

    def changes(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        from_: Optional[Literal["allow", "deny", "require_approval"]] = None,
        to: Optional[Literal["allow", "deny", "require_approval"]] = None,
        rule: Optional[str] = None,
    ) -> ReplayChangePage:
        """The decisions that a draft changes, oldest first, explained; `from`, `to`, `rule`,
        `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `from_`: The recorded decision.
        - `to`: The decision of the draft.
        - `rule`: The rule that decided then, or by the draft.
        """
        answer = self._call(
            "replayChanges",
            params={"id": id},
            query={"limit": limit, "offset": offset, "from": from_, "to": to, "rule": rule},
        )
        return cast(ReplayChangePage, answer)

    def cancel(self, id: str) -> Replay:
        """Ends a replay, and forgets it."""
        answer = self._call("cancelReplay", params={"id": id})
        return cast(Replay, answer)

    def seal(self, id: str) -> Replay:
        """Records in the trail that the draft was tried, on what, and with what result."""
        answer = self._call("sealReplay", params={"id": id})
        return cast(Replay, answer)


class SessionsEndpoints:
    """Endpoints under `sessions` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def current(self) -> SignedIn:
        """The caller, its tenants, and the routes that it may call."""
        answer = self._call("getSession")
        return cast(SignedIn, answer)

    def sign_in_link(self) -> SignInLink:
        """A link by which a browser is signed in with this key, once within five minutes."""
        answer = self._call("signInCode")
        return cast(SignInLink, answer)


class ServiceEndpoints:
    """Endpoints under `service` of a client."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def overview(self, *, hours: Optional[int] = None) -> Overview:
        """Decisions, denials and approvals of the last `hours`, the audit trail, and what is
        enforced now.

        - `hours`: Hours to look back; 24 if not given.
        """
        answer = self._call("overview", query={"hours": hours})
        return cast(Overview, answer)

    def usage(self) -> Usage:
        """The tenant's plan, and what is used of it."""
        answer = self._call("usage")
        return cast(Usage, answer)

    def health(self) -> Health:
        """The process answers."""
        answer = self._call("healthz")
        return cast(Health, answer)

    def readiness(self) -> Readiness:
        """The store answers and takes writes, the trail is good, stops are on disk, policies are in
        force.
        """
        answer = self._call("readyz")
        return cast(Readiness, answer)

    def metrics(self) -> str:
        """Figures for Prometheus; from another machine with a key of an auditor or operator."""
        answer = self._call("metrics")
        return cast(str, answer)

    def open_api(self) -> Dict[str, Any]:
        """This interface as an OpenAPI 3.1 document."""
        answer = self._call("openapi")
        return cast(Dict[str, Any], answer)


class Endpoints:
    """Every endpoint with a plain answer."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self.approvals = ApprovalsEndpoints(call)
        self.audit = AuditEndpoints(call)
        self.decisions = DecisionsEndpoints(call)
        self.evidence = EvidenceEndpoints(call)
        self.kill_switch = KillSwitchEndpoints(call)
        self.keys = KeysEndpoints(call)
        self.policies = PoliciesEndpoints(call)
        self.replays = ReplaysEndpoints(call)
        self.sessions = SessionsEndpoints(call)
        self.service = ServiceEndpoints(call)

    def risk(self, request: RiskRequest) -> RiskAssessment:
        """Score and factors, no decision."""
        answer = self._call("risk", body=request)
        return cast(RiskAssessment, answer)

    def outcome(self, request: OutcomeRequest, *, idempotency_key: Optional[str] = None) -> Outcome:
        """Reports the outcome of an action after its decision: `succeeded`, `failed`, `not_run`."""
        answer = self._call("outcome", body=request, idempotency_key=idempotency_key)
        return cast(Outcome, answer)


class AsyncApprovalsEndpoints:
    """Endpoints under `approvals` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def list(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        status: Optional[
            Literal[
                "pending",
                "approved",
                "rejected",
                "expired",
                "cancelled",
                "consumed",
            ]
        ] = None,
    ) -> ApprovalPage:
        """Pending approvals; `status`, `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `status`: Pending ones without it.
        """
        answer = await self._call(
            "listApprovals",
            query={"limit": limit, "offset": offset, "status": status},
        )
        return cast(ApprovalPage, answer)

    async def get(self, id: str) -> Approval:
        """One approval; `?wait=25` waits until it is decided."""
        answer = await self._call("getApproval", params={"id": id})
        return cast(Approval, answer)

    async def background(self, id: str) -> ApprovalBackground:
        """Context for the decision on an approval: its rule, what its agent did, whether this key
        may vote.
        """
        answer = await self._call("approvalBackground", params={"id": id})
        return cast(ApprovalBackground, answer)

    async def approve(
        self,
        id: str,
        request: ApproveRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Votes for a held request."""
        answer = await self._call(
            "approve",
            params={"id": id},
            body=request,
            idempotency_key=idempotency_key,
        )
        return cast(Approval, answer)

    async def reject(
        self,
        id: str,
        request: RejectRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Approval:
        """Ends a held request."""
        answer = await self._call(
            "reject",
            params={"id": id},
            body=request,
            idempotency_key=idempotency_key,
        )
        return cast(Approval, answer)

    async def cancel(self, id: str) -> Approval:
        """Takes back an approval that was not used."""
        answer = await self._call("cancelApproval", params={"id": id}, body={})
        return cast(Approval, answer)


class AsyncAuditEndpoints:
    """Endpoints under `audit` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def chain(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        before: Optional[str] = None,
        event_type: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
    ) -> AuditEntryPage:
        """Entries, newest first; `limit`, `offset`, `before`, `order`, `eventType`, `from`, `to`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `order`: Newest first without it.
        - `before`: Only entries before this place of the trail: the id of an entry, or
        `<chain>:<seq>`.
        - `event_type`: Only entries of this type.
        - `from_`: From this time on.
        - `to`: Before this time.
        """
        answer = await self._call(
            "auditChain",
            query={
                "limit": limit,
                "offset": offset,
                "order": order,
                "before": before,
                "eventType": event_type,
                "from": from_,
                "to": to,
            },
        )
        return cast(AuditEntryPage, answer)

    async def verify(self, request: VerifyRequest) -> RangeVerification:
        """Recomputes the chain over a range of days."""
        answer = await self._call("auditVerify", body=request)
        return cast(RangeVerification, answer)

    async def log(
        self,
        request: LogRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> AuditEntry:
        """Writes an entry of the caller's own."""
        answer = await self._call("auditLog", body=request, idempotency_key=idempotency_key)
        return cast(AuditEntry, answer)


class AsyncDecisionsEndpoints:
    """Endpoints under `decisions` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def list(
        self,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        decision: Optional[Literal["allow", "deny", "require_approval"]] = None,
        observed: Optional[Literal["allow", "deny", "require_approval"]] = None,
        shadow: Optional[Literal["differs", "allow", "deny", "require_approval"]] = None,
        action: Optional[str] = None,
        decided_by: Optional[
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
        ] = None,
        rule: Optional[str] = None,
        agent: Optional[str] = None,
        session: Optional[str] = None,
        match: Optional[Literal["whole", "part"]] = None,
        min_risk: Optional[int] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
    ) -> DecisionPage:
        """Decisions, newest first, filtered by action, requester and outcome.

        - `limit`: Limit of decisions in the answer.
        - `before`: Only decisions before this place of the trail: `next` of the page before.
        - `decision`: The decision that was made.
        - `observed`: Decision of the policies, for decisions that were only observed.
        - `shadow`: Decision of the set in shadow, where it would have decided otherwise; `differs`
        for any of these.
        - `action`: An action, or a glob: `payment.*`.
        - `decided_by`: The step of the order of decision that decided.
        - `rule`: The rule that decided.
        - `agent`: Requester: its key's identity, else its key's id.
        - `session`: The session that the policies saw.
        - `match`: Comparison of `rule`, `agent` and `session`: `whole`, or `part` of the name,
        ignoring case.
        - `min_risk`: A risk score of this or more.
        - `from_`: From this time on.
        - `to`: Before this time.
        """
        answer = await self._call(
            "listDecisions",
            query={
                "limit": limit,
                "before": before,
                "decision": decision,
                "observed": observed,
                "shadow": shadow,
                "action": action,
                "decidedBy": decided_by,
                "rule": rule,
                "agent": agent,
                "session": session,
                "match": match,
                "minRisk": min_risk,
                "from": from_,
                "to": to,
            },
        )
        return cast(DecisionPage, answer)

    async def get(self, id: str) -> RecordedDecision:
        """A recorded decision, explained by the policies that decided."""
        answer = await self._call("getDecision", params={"id": id})
        return cast(RecordedDecision, answer)

    async def timeline(self, id: str) -> DecisionTimeline:
        """The history of an action, in order: held, voted on, approved, used, its outcome."""
        answer = await self._call("decisionTimeline", params={"id": id})
        return cast(DecisionTimeline, answer)


class AsyncEvidenceEndpoints:
    """Endpoints under `evidence` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def bundle(
        self,
        id: str,
        *,
        format: Optional[Literal["bundle", "dsse"]] = None,
    ) -> Union[TrustBundle, Envelope]:
        """Signed trust bundle of a decision.

        - `format`: An envelope of DSSE in place of the bundle.
        """
        answer = await self._call("exportBundle", params={"id": id}, query={"format": format})
        return cast(Union[TrustBundle, Envelope], answer)

    async def policy_change(self, id: str) -> PolicyChange:
        """Signed entries about a policy set, by its digest: how it was tried, and put in force."""
        answer = await self._call("exportPolicyChange", params={"id": id})
        return cast(PolicyChange, answer)

    async def verify(self, bundle: Mapping[str, Any]) -> BundleVerification:
        """Verifies a bundle or a policy change; needs no `x-tenant-id`."""
        answer = await self._call("verifyBundle", body={"bundle": bundle})
        return cast(BundleVerification, answer)


class AsyncKillSwitchEndpoints:
    """Endpoints under `kill_switch` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def status(self) -> KillSwitchStatus:
        """The strongest stop, and all of them."""
        answer = await self._call("killSwitchStatus")
        return cast(KillSwitchStatus, answer)

    async def history(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> PastKillSwitchPage:
        """Every stop, newest first, ended ones too; `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        """
        answer = await self._call("killSwitchHistory", query={"limit": limit, "offset": offset})
        return cast(PastKillSwitchPage, answer)

    async def preview(self, request: PreviewStopRequest) -> KillSwitchPreview:
        """Actions and approvals that a stop would cover; stops nothing."""
        answer = await self._call("previewStop", body=request)
        return cast(KillSwitchPreview, answer)

    async def trigger(
        self,
        request: TriggerRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> TriggeredKillSwitch:
        """Stops an action (L1), a domain (L2), the tenant (L3), everything (L4, admin only)."""
        answer = await self._call("trigger", body=request, idempotency_key=idempotency_key)
        return cast(TriggeredKillSwitch, answer)

    async def recover(
        self,
        request: RecoverRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> KillSwitchStatus:
        """Ends a stop."""
        answer = await self._call("recover", body=request, idempotency_key=idempotency_key)
        return cast(KillSwitchStatus, answer)


class AsyncKeysEndpoints:
    """Endpoints under `keys` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def list(self) -> List[ListedKey]:
        """Keys, without secrets."""
        answer = await self._call("listKeys")
        return cast(List[ListedKey], answer)

    async def create(self, request: CreateKeyRequest) -> CreatedKey:
        """Makes a key; its secret is in this answer only."""
        answer = await self._call("createKey", body=request)
        return cast(CreatedKey, answer)

    async def rotate(self, id: str, request: Optional[RotateKeyRequest] = None) -> RotatedKey:
        """Replaces a key by a new one of the same holder; its secret is in this answer only."""
        answer = await self._call("rotateKey", params={"id": id}, body=request or {})
        return cast(RotatedKey, answer)

    async def revoke(self, id: str) -> Key:
        """Ends a key."""
        answer = await self._call("revokeKey", params={"id": id})
        return cast(Key, answer)


class AsyncPoliciesEndpoints:
    """Endpoints under `policies` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def list(self) -> PolicyState:
        """The policy set in force, and the faults of the newest files."""
        answer = await self._call("listPolicies")
        return cast(PolicyState, answer)

    async def validate(self, request: ValidatePoliciesRequest) -> PolicyValidation:
        """Every fault of policies that are sent as texts; opens no file and keeps nothing."""
        answer = await self._call("validatePolicies", body=request)
        return cast(PolicyValidation, answer)

    async def reload(self) -> PolicyState:
        """Reads the tenant's folder now, and answers with the result."""
        answer = await self._call("reloadPolicies", body={})
        return cast(PolicyState, answer)

    async def source(self) -> PolicyTexts:
        """The texts of the policy set in force, and the faults of the newest files."""
        answer = await self._call("policySource")
        return cast(PolicyTexts, answer)

    async def shadow(self) -> ShadowState:
        """The policy set in shadow, and what it would have decided otherwise."""
        answer = await self._call("shadowPolicies")
        return cast(ShadowState, answer)

    async def dry_run(self, request: DryRunRequest) -> DryRun:
        """The decision that the policies in force, or texts that are sent, would make; records
        nothing.
        """
        answer = await self._call("dryRun", body=request)
        return cast(DryRun, answer)


class AsyncReplaysEndpoints:
    """Endpoints under `replays` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def begin(self, request: ReplayPoliciesRequest) -> Replay:
        """Begins to decide recorded requests again with texts that are sent; records nothing."""
        answer = await self._call("replayPolicies", body=request)
        return cast(Replay, answer)

    async def get(self, id: str) -> Replay:
        """The progress of a replay, and its result: what the draft changes, by decision, rule,
        factor and fact.
        """
        answer = await self._call("getReplay", params={"id": id})
        return cast(Replay, answer)

    async def changes(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        from_: Optional[Literal["allow", "deny", "require_approval"]] = None,
        to: Optional[Literal["allow", "deny", "require_approval"]] = None,
        rule: Optional[str] = None,
    ) -> ReplayChangePage:
        """The decisions that a draft changes, oldest first, explained; `from`, `to`, `rule`,
        `limit`, `offset`.

        - `limit`: Limit of items in the answer; a larger one is clamped.
        - `offset`: Number of items to skip.
        - `from_`: The recorded decision.
        - `to`: The decision of the draft.
        - `rule`: The rule that decided then, or by the draft.
        """
        answer = await self._call(
            "replayChanges",
            params={"id": id},
            query={"limit": limit, "offset": offset, "from": from_, "to": to, "rule": rule},
        )
        return cast(ReplayChangePage, answer)

    async def cancel(self, id: str) -> Replay:
        """Ends a replay, and forgets it."""
        answer = await self._call("cancelReplay", params={"id": id})
        return cast(Replay, answer)

    async def seal(self, id: str) -> Replay:
        """Records in the trail that the draft was tried, on what, and with what result."""
        answer = await self._call("sealReplay", params={"id": id})
        return cast(Replay, answer)


class AsyncSessionsEndpoints:
    """Endpoints under `sessions` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def current(self) -> SignedIn:
        """The caller, its tenants, and the routes that it may call."""
        answer = await self._call("getSession")
        return cast(SignedIn, answer)

    async def sign_in_link(self) -> SignInLink:
        """A link by which a browser is signed in with this key, once within five minutes."""
        answer = await self._call("signInCode")
        return cast(SignInLink, answer)


class AsyncServiceEndpoints:
    """Endpoints under `service` of a client."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def overview(self, *, hours: Optional[int] = None) -> Overview:
        """Decisions, denials and approvals of the last `hours`, the audit trail, and what is
        enforced now.

        - `hours`: Hours to look back; 24 if not given.
        """
        answer = await self._call("overview", query={"hours": hours})
        return cast(Overview, answer)

    async def usage(self) -> Usage:
        """The tenant's plan, and what is used of it."""
        answer = await self._call("usage")
        return cast(Usage, answer)

    async def health(self) -> Health:
        """The process answers."""
        answer = await self._call("healthz")
        return cast(Health, answer)

    async def readiness(self) -> Readiness:
        """The store answers and takes writes, the trail is good, stops are on disk, policies are in
        force.
        """
        answer = await self._call("readyz")
        return cast(Readiness, answer)

    async def metrics(self) -> str:
        """Figures for Prometheus; from another machine with a key of an auditor or operator."""
        answer = await self._call("metrics")
        return cast(str, answer)

    async def open_api(self) -> Dict[str, Any]:
        """This interface as an OpenAPI 3.1 document."""
        answer = await self._call("openapi")
        return cast(Dict[str, Any], answer)


class AsyncEndpoints:
    """Every endpoint with a plain answer."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call
        self.approvals = AsyncApprovalsEndpoints(call)
        self.audit = AsyncAuditEndpoints(call)
        self.decisions = AsyncDecisionsEndpoints(call)
        self.evidence = AsyncEvidenceEndpoints(call)
        self.kill_switch = AsyncKillSwitchEndpoints(call)
        self.keys = AsyncKeysEndpoints(call)
        self.policies = AsyncPoliciesEndpoints(call)
        self.replays = AsyncReplaysEndpoints(call)
        self.sessions = AsyncSessionsEndpoints(call)
        self.service = AsyncServiceEndpoints(call)

    async def risk(self, request: RiskRequest) -> RiskAssessment:
        """Score and factors, no decision."""
        answer = await self._call("risk", body=request)
        return cast(RiskAssessment, answer)

    async def outcome(
        self,
        request: OutcomeRequest,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Outcome:
        """Reports the outcome of an action after its decision: `succeeded`, `failed`, `not_run`."""
        answer = await self._call("outcome", body=request, idempotency_key=idempotency_key)
        return cast(Outcome, answer)
