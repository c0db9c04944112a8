import * as Type from '#typebox'
import type { QuotedDiagnostic } from '../../authoring/diagnostics/quote.ts'
import type { Bounded, PolicySource } from '../../authoring/load/files.ts'
import type { CompiledPolicies } from '../../authoring/load/load.ts'
import { notValidated } from '../../authoring/load/validation.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { NO_HISTORY } from '../../gate/history.ts'
import type { Question } from '../../gate/judge.ts'
import { closed, RiskRequest } from '../../gate/request.ts'
import { type DraftQuestion, type Verdict, verdictOf } from '../../gate/verdict.ts'
import { coveringStop, reasonOf } from '../../killswitch/killswitch.ts'
import { linkPolicySet } from '../../policies/link.ts'
import { domainOf, type PolicySet } from '../../policies/set.ts'
import { lengthOf } from '../../store/bounds.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import { DraftFields, draftSource, type OnDraft } from './drafts.ts'

/** Limit in bytes of context and plan together, as for a check. */
const MAX_REQUEST_BYTES = 1024 * 1024
/** The principal without a name: no key has it as its identity. */
const NOBODY = ''

export const DryRunRequest = closed('DryRunRequest', {
  ...RiskRequest.properties,
  agent: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Requester: the identity of a key, or the id of one that has none. Without it, a requester without earlier decisions.',
    }),
  ),
  files: Type.Optional(DraftFields.files),
  lists: DraftFields.lists,
})
export type DryRunRequest = Type.Static<typeof DryRunRequest>

export interface DryRunDeps extends CheckDeps {
  policies: CheckDeps['policies'] & {
    /** The list files of the set in force, by their paths. */
    lists(tenantId: string): PolicySource['lists']
  }
  drafts: {
    onDraft: OnDraft
    /** Compiles a draft and evaluates it, isolated from the service. */
    compile(source: PolicySource): Promise<Bounded<CompiledPolicies>>
    judge(question: DraftQuestion): Promise<Bounded<Verdict>>
  }
}

/**
 * The decision that the policies in force, or a draft, would make now, without approvals. Records nothing, and changes
 * no count.
 *
 * @throws GateError `invalid_request`, `payload_too_large`; `overloaded` when too many drafts are worked on
 */
export async function dryRun(deps: DryRunDeps, caller: Caller, request: DryRunRequest) {
  const { files, lists, context, plan } = request
  if (Buffer.byteLength(JSON.stringify([context, plan])) > MAX_REQUEST_BYTES)
    throw new GateError('payload_too_large', `Context and plan have more than ${MAX_REQUEST_BYTES} bytes.`)
  if (files !== undefined) {
    const source = draftSource(caller.tenantId, { files, ...(lists && { lists }) })
    // Files missing from a draft stay as they are: a changed rule needs no upload of a list of a million names.
    const all = { ...source, lists: new Map([...deps.policies.lists(caller.tenantId), ...source.lists]) }
    return deps.drafts.onDraft(caller.tenantId, () => ofDraft(deps, caller, request, all))
  }
  if (lists !== undefined) {
    throw new GateError('invalid_request', 'Send lists together with files.', {
      details: [{ path: '/files', message: 'is required with lists' }],
    })
  }
  const set = deps.policies.get(caller.tenantId)
  const verdict = await verdictOf({ set, ...(await questionOf(deps, caller, request, set)) })
  return { policyDigest: set?.digest ?? null, verdict, diagnostics: [] }
}

async function ofDraft(deps: DryRunDeps, caller: Caller, request: DryRunRequest, source: PolicySource) {
  const failed = (diagnostics: readonly QuotedDiagnostic[]) => ({ policyDigest: null, verdict: null, diagnostics })
  const compiled = await deps.drafts.compile(source)
  if ('fault' in compiled) return failed(notValidated(source, compiled.fault).diagnostics)
  const { data, diagnostics } = compiled.value
  if (data === undefined) return failed(diagnostics)
  const asked = await questionOf(deps, caller, request, linkPolicySet(data))
  const judged = await deps.drafts.judge({ data, asked })
  if ('fault' in judged) return failed(notValidated(source, judged.fault).diagnostics)
  return { policyDigest: data.digest, verdict: judged.value, diagnostics }
}

/** The facts that these policies may read of the request, as of now. */
async function questionOf(
  deps: DryRunDeps,
  { chain, tenantId, environment }: Caller,
  { action, context, plan, agent = NOBODY }: DryRunRequest,
  set: PolicySet | undefined,
): Promise<Omit<Question, 'set'>> {
  const nowMs = deps.clock()
  const query = { agent, nowMs, action, context, plan }
  const stop = coveringStop(deps.store.state().switches, { chain, action, domain: set && domainOf(set, action) })
  const { store } = deps
  const end = store.countsIn === 'chain' ? await lengthOf(store, chain) : formatTimestamp(nowMs + 1)
  // Read as for an explained decision, so that no cache of the checks changes.
  const history = set === undefined ? NO_HISTORY : (await deps.history.at(set, chain, query, end)).history
  return { killSwitchReason: stop && reasonOf(stop), tenant: tenantId, environment, ...query, history }
}
