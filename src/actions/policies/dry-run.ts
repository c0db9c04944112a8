import { type Static, Type } from '#typebox'
import { GateError } from '../../base/errors.ts'
import { NO_HISTORY } from '../../gate/history.ts'
import type { Question } from '../../gate/judge.ts'
import { RiskRequest } from '../../gate/request.ts'
import { type DraftQuestion, type Verdict, verdictOf } from '../../gate/verdict.ts'
import { coveringStop, reasonOf } from '../../killswitch/killswitch.ts'
import { linkPolicySet } from '../../policy/link.ts'
import type { CompiledPolicies, Outcome, PolicySource } from '../../policy/load.ts'
import type { QuotedDiagnostic } from '../../policy/output/quote.ts'
import { domainOf, type PolicySet } from '../../policy/set.ts'
import { notValidated } from '../../policy/validation.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import { DraftFields, draftSource, type OnDraft } from './drafts.ts'

/** Bytes of context and plan together: what a check can bring. */
const MAX_REQUEST_BYTES = 1024 * 1024
/** Asks where nobody is named: no key has it as its identity. */
const NOBODY = ''

/** Body of POST /policies/dry-run. */
export const DryRunRequest = Type.Object(
  {
    ...RiskRequest.properties,
    agent: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Who asks: the identity of a key, or the id of one that has none. Without it nobody, who was never allowed anything.',
      }),
    ),
    files: Type.Optional(DraftFields.files),
    lists: DraftFields.lists,
  },
  { additionalProperties: false, title: 'DryRunRequest' },
)
export type DryRunRequest = Static<typeof DryRunRequest>

/** `data` of POST /policies/dry-run. */
export interface DryRun {
  /** Of the policies that were asked; null where there are none. */
  policyDigest: string | null
  /** Null where a draft has errors. */
  verdict: Verdict | null
  /** Of the draft. */
  diagnostics: readonly QuotedDiagnostic[]
}

export interface DryRunDeps extends CheckDeps {
  policies: CheckDeps['policies'] & {
    /** The list files of the set in force, by their paths. */
    lists(tenantId: string): PolicySource['lists']
  }
  drafts: {
    onDraft: OnDraft
    /** Compiles a draft, and asks what was compiled, where neither can do harm. */
    compile(source: PolicySource): Promise<Outcome<CompiledPolicies>>
    judge(question: DraftQuestion): Promise<Outcome<Verdict>>
  }
}

/**
 * What would be decided now, by the policies in force or by a draft, without approvals. Nothing is recorded, and nothing that
 * later checks count is changed.
 *
 * @throws GateError `invalid_request`, `payload_too_large`; `overloaded` when too many drafts are worked on
 */
export async function dryRun(deps: DryRunDeps, caller: Caller, request: DryRunRequest): Promise<DryRun> {
  const { files, lists, context, plan } = request
  if (Buffer.byteLength(JSON.stringify([context, plan])) > MAX_REQUEST_BYTES)
    throw new GateError('payload_too_large', `Context and plan have more than ${MAX_REQUEST_BYTES} bytes.`)
  if (files !== undefined) {
    const source = draftSource(caller.tenantId, { files, ...(lists && { lists }) })
    // What a draft does not bring stays as it is; who changes a rule need not send a list of a million names.
    const all = { ...source, lists: new Map([...deps.policies.lists(caller.tenantId), ...source.lists]) }
    return deps.drafts.onDraft(caller.tenantId, () => ofDraft(deps, caller, request, all))
  }
  if (lists !== undefined) {
    throw new GateError('invalid_request', 'Lists come with the files of a draft.', {
      details: [{ path: '/files', message: 'is required beside lists' }],
    })
  }
  const set = deps.policies.get(caller.tenantId)
  const verdict = await verdictOf({ set, ...(await questionOf(deps, caller, request, set)) })
  return { policyDigest: set?.digest ?? null, verdict, diagnostics: [] }
}

async function ofDraft(
  deps: DryRunDeps,
  caller: Caller,
  request: DryRunRequest,
  source: PolicySource,
): Promise<DryRun> {
  const failed = (fault: string): DryRun => ({
    policyDigest: null,
    verdict: null,
    diagnostics: notValidated(source, fault).diagnostics,
  })
  const compiled = await deps.drafts.compile(source)
  if ('fault' in compiled) return failed(compiled.fault)
  const { data, diagnostics } = compiled.value
  if (data === undefined) return { policyDigest: null, verdict: null, diagnostics }
  const asked = await questionOf(deps, caller, request, linkPolicySet(data))
  const judged = await deps.drafts.judge({ data, asked })
  return 'fault' in judged ? failed(judged.fault) : { policyDigest: data.digest, verdict: judged.value, diagnostics }
}

/** All that these policies may know of the request, as of now. */
async function questionOf(
  deps: DryRunDeps,
  { chain, tenantId, environment }: Caller,
  { action, context, plan, agent = NOBODY }: DryRunRequest,
  set: PolicySet | undefined,
): Promise<Omit<Question, 'set'>> {
  const nowMs = deps.clock()
  const query = { agent, nowMs, action, context, plan }
  const stop = coveringStop(deps.store.state().switches, { chain, action, domain: set && domainOf(set, action) })
  const end = (await deps.store.lengths([chain])).get(chain) ?? 0
  // As of a decision that is explained: nothing of it is kept for checks to go on from.
  const history = set === undefined ? NO_HISTORY : (await deps.history.at(set, chain, query, end)).history
  return { killSwitchReason: stop && reasonOf(stop), tenant: tenantId, environment, ...query, history }
}
