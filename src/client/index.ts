export type * from './api.ts'
export { GateClient, type GateOptions, type ListenOptions } from './client.ts'
export type { CallOptions, ConnectionOptions } from './connection.ts'
export { ActionRefused, type FailureCode, type FailureDetail, GateError } from './errors.ts'
export type { EventOptions, GateEvent } from './events.ts'
export type { GuardOptions, Leave, Mode, Observed } from './guard.ts'
export type {
  ActionRequest,
  DecideOptions,
  Permit,
  PermitOptions,
  WaitOptions,
} from './permit.ts'
export type { Observation, Origin } from './provenance.ts'
export type { GateSession, SessionOptions, ToolArgs, ToolCallOptions, ToolContext } from './session.ts'
export type { Days, VerificationEvent } from './verification.ts'
