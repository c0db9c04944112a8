import * as Type from '#typebox'
import { GateError } from '../../base/errors.ts'
import { isId } from '../../base/id.ts'
import { MAX_ID, MAX_TEXT, requestBody } from '../../gate/request.ts'
import { principalOf } from '../../keys/apikey.ts'
import { ownDecision } from '../decisions/decisions.ts'
import { type Caller, committedTime, type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { OUTCOME_STATUSES, type OutcomeData, type OutcomeStatus, outcomeOf, RECORDED } from './outcome-of.ts'

export const OutcomeRequest = requestBody('OutcomeRequest', {
  decisionId: Type.String({ maxLength: MAX_ID, description: 'The decision that the action was run on.' }),
  status: Type.Unsafe<OutcomeStatus>({ type: 'string', enum: [...OUTCOME_STATUSES] }),
  observed: Type.Optional(
    Type.Boolean({ description: 'The caller only observes: it runs every action, whatever the decision.' }),
  ),
  durationMs: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  error: Type.Optional(Type.String({ maxLength: MAX_TEXT, description: 'Reason why it failed, or was not run.' })),
})
export type OutcomeRequest = Type.Static<typeof OutcomeRequest>

/** A reported run that may have bypassed the gate. */
interface BypassReport {
  chain: string
  decisionId: string
  action: string
  observed: boolean
}

export interface OutcomeDeps extends Deps {
  outcomes: {
    /** An action ran without an allow. */
    ranWithoutAllow(reported: BypassReport): void
    /** Called when an action ran whose outcome is recorded as `not_run`. */
    ranAfterAll(reported: BypassReport): void
  }
}

/**
 * Records the outcome of an action after its decision, once. A repeated report returns the recorded one.
 *
 * @throws GateError `not_found` for a decision that is not the caller's, `outcome_conflict` when another outcome is
 *   recorded
 */
export async function recordOutcome(
  deps: OutcomeDeps,
  caller: Caller,
  request: OutcomeRequest,
  idempotency?: Idempotency,
) {
  const { outcome, isNew } = await recordOnce(deps, caller, request, idempotency)
  const { decisionId, action, observed } = outcome
  if (isNew && outcome.possibleBypass)
    deps.outcomes.ranWithoutAllow({ chain: caller.chain, decisionId, action, observed })
  return outcome
}

function recordOnce(deps: OutcomeDeps, caller: Caller, request: OutcomeRequest, idempotency?: Idempotency) {
  return decideAndCommit(deps.store, async () => {
    const { id: decisionId, action, decision } = await decisionOf(deps, caller, request.decisionId)
    const { status, observed = false, durationMs = null, error = null } = request
    const recorded = await outcomeOf(deps, caller.chain, decisionId)
    if (recorded !== undefined && recorded.status !== 'missing' && recorded.status !== status) {
      // The refused report still counts: the record may hide that the action ran.
      if (recorded.status === 'not_run')
        deps.outcomes.ranAfterAll({ chain: caller.chain, decisionId, action, observed })
      throw new GateError('outcome_conflict', `The outcome of this decision is recorded as ${recorded.status}.`)
    }
    const earlier = await earlierUse(deps.store, caller, idempotency)
    const of = { decisionId, action, decision }
    if (recorded?.status === status)
      return { submission: null, reply: () => ({ outcome: { ...of, ...recorded }, isNew: false }) }
    const reported: OutcomeData = {
      status,
      possibleBypass: status !== 'not_run' && decision !== 'allow',
      observed,
      durationMs,
    }
    const data = { decisionId, action, reportedBy: principalOf(caller.key), ...reported }
    const event = eventEntry(deps, caller.chain, 'outcome.recorded', data, caller.actor)
    const bound = bindTo(deps, caller, idempotency, earlier, event.id)
    return {
      submission: {
        guards: [
          { kind: 'keyActive', keyId: caller.key.id },
          { kind: 'noOutcome', chain: caller.chain, decisionId, types: RECORDED },
          ...bound.guards,
        ],
        writes: bound.writes,
        entries: [error === null ? event : { ...event, detail: { error } }],
      },
      reply: ({ entries }) => {
        const place = { recordedAt: committedTime(entries, event.id), entryId: event.id }
        return { outcome: { ...of, ...reported, error, ...place }, isNew: true }
      },
    }
  })
}

async function decisionOf(deps: Deps, caller: Caller, id: string) {
  const decided = isId(id, 'decision') ? await ownDecision(deps, caller, id) : undefined
  if (decided === undefined)
    throw new GateError('not_found', 'There is no such decision, or another caller asked for it.')
  return decided.decision
}
