import type { BackgroundDeps } from '../actions/approvals/background.ts'
import type { RangeInputs } from '../actions/audit/verify-range.ts'
import type { ExplainDeps } from '../actions/decisions/explain.ts'
import type { CheckDeps, Shadows } from '../actions/deps.ts'
import type { EvidenceDeps } from '../actions/evidence/evidence.ts'
import type { Examine } from '../actions/evidence/verify.ts'
import type { ShadowCounts } from '../actions/gate/shadow.ts'
import type { KeyUses } from '../actions/keys/uses.ts'
import type { KillSwitchDeps } from '../actions/killswitch/killswitch.ts'
import type { OutcomeDeps } from '../actions/outcomes/outcomes.ts'
import type { OverviewDeps } from '../actions/overview/overview.ts'
import type { DryRunDeps } from '../actions/policies/dry-run.ts'
import type { PolicyRegistry } from '../actions/policies/registry.ts'
import type { ShadowStateDeps } from '../actions/policies/shadow.ts'
import type { ValidatePolicies } from '../actions/policies/validate.ts'
import type { Replays } from '../actions/replay/jobs.ts'
import type { Sessions } from '../actions/sessions/sessions.ts'
import type { SignInCodes } from '../actions/sessions/sign-in-codes.ts'
import type { ErrorCounts } from './error-counts.ts'

/** Dependencies of the routes; composed in server.ts. */
export interface Services
  extends CheckDeps,
    KillSwitchDeps,
    EvidenceDeps,
    ExplainDeps,
    OutcomeDeps,
    DryRunDeps,
    OverviewDeps,
    ShadowStateDeps,
    BackgroundDeps {
  sessions: Sessions
  signInCodes: SignInCodes
  policies: PolicyRegistry
  shadows: Shadows & ShadowCounts
  keyUses: KeyUses
  validatePolicies: ValidatePolicies
  replays: Replays
  examine: Examine
  /** Anchors of the chains, kept elsewhere. @throws GateError `audit_unavailable` when they cannot be read */
  readAnchors(): Promise<RangeInputs>
  /** Reasons why requests should go elsewhere; empty while the service is ready. */
  unready(): readonly Unready[]
  /** Metrics in the text format of Prometheus. */
  metrics(): Promise<string>
  log: HttpLog
  errors: ErrorCounts
  /** Aborted when the service begins to stop: waiting requests are answered as they are, and streams end. */
  stopping: AbortSignal
  /** Number of sidecars among which the rate of a plan is divided; 1 where each allows the whole. */
  sharers(tenantId: string): number
  /** Accepted host names besides the loopback ones. */
  allowedHosts: readonly string[]
}

/** Reasons of `/readyz`, in the order in which they are reported. */
export const UNREADY = [
  'stopping',
  'anchors',
  'stops',
  'writes',
  'stale',
  'chains',
  'logKey',
  'rows',
  'policies',
] as const

export interface Unready {
  reason: (typeof UNREADY)[number]
  /** A sentence that anybody may read. */
  message: string
}

/** Part of the logger that HTTP uses. */
interface HttpLog {
  error(fields: object, message: string): void
}
