import type { BackgroundDeps } from '../actions/approval-background.ts'
import type { CheckDeps } from '../actions/deps.ts'
import type { DryRunDeps } from '../actions/dry-run.ts'
import type { EvidenceDeps } from '../actions/evidence.ts'
import type { ExplainDeps } from '../actions/explain.ts'
import type { KeyUses } from '../actions/key-uses.ts'
import type { KillSwitchDeps } from '../actions/killswitch.ts'
import type { OutcomeDeps } from '../actions/outcomes.ts'
import type { OverviewDeps } from '../actions/overview.ts'
import type { PolicyRegistry } from '../actions/policy-registry.ts'
import type { Sessions } from '../actions/sessions.ts'
import type { SignInCodes } from '../actions/sign-in-codes.ts'
import type { ValidatePolicies } from '../actions/validate-policies.ts'
import type { Examine } from '../actions/verify-evidence.ts'
import type { Outside } from '../actions/verify-range.ts'

/** What the routes work with; composed in server.ts. */
export interface Services
  extends CheckDeps,
    KillSwitchDeps,
    EvidenceDeps,
    ExplainDeps,
    OutcomeDeps,
    DryRunDeps,
    OverviewDeps,
    BackgroundDeps {
  sessions: Sessions
  signInCodes: SignInCodes
  policies: PolicyRegistry
  keyUses: KeyUses
  validatePolicies: ValidatePolicies
  examine: Examine
  /** What lies elsewhere of the chains. @throws GateError `audit_unavailable` when it cannot be read */
  outside(): Promise<Outside>
  /** What is measured, in the text format of Prometheus. */
  metrics(): Promise<string>
  log: HttpLog
  /** Aborted when the service begins to stop: what waits is answered as it is, and streams end. */
  stopping: AbortSignal
  /** Host names besides the loopback ones that requests may be addressed to. */
  allowedHosts: readonly string[]
}

/** The part of the logger that HTTP uses. */
export interface HttpLog {
  error(fields: object, message: string): void
}
