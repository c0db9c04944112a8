import type { CheckDeps } from '../actions/deps.ts'
import type { EvidenceDeps } from '../actions/evidence.ts'
import type { KillSwitchDeps } from '../actions/killswitch.ts'
import type { PolicyRegistry } from '../actions/policy-registry.ts'
import type { ValidatePolicies } from '../actions/validate-policies.ts'

/** What the routes work with; composed in server.ts. */
export interface Services extends CheckDeps, KillSwitchDeps, EvidenceDeps {
  policies: PolicyRegistry
  validatePolicies: ValidatePolicies
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
