import { after } from 'node:test'
import type { EvidenceDeps } from '../../src/actions/evidence/evidence.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { type ServiceVerification, verifyEvidence } from '../../src/actions/evidence/verify.ts'
import { utf8 } from '../../src/base/bytes.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import type { Verification } from '../../src/evidence/checks.ts'
import { type Envelope, envelopeOf } from '../../src/evidence/envelope.ts'
import { readTrust, type Trust, trustFile } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { readSigningKey } from '../../src/files/signing-key.ts'
import { examineHere } from '../../src/http/evidence/examine.ts'
import { type Gate, type GateOptions, startGate } from '../helpers.ts'
import { certified } from './forge.ts'

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
approval: {unbound: [context.note]}
facts: {context.amount: {type: number}}
risk:
  - {name: amount, actions: ["payment.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 10000}}
rules:
  - {id: huge, actions: ["payment.*"], effect: deny, reason: Too much., when: {fact: context.amount, operator: greaterThan, value: 100000}}
  - {id: large, actions: [payment.transfer], effect: require_approval, reason: A person., when: {fact: context.amount, operator: greaterThan, value: 1000}}
  - {id: pair, actions: [payment.refund], effect: require_approval, reason: Two people., approval: {quorum: 2}}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: Payments within limits.}
`

/** A service with decisions, and what is needed to check and to forge its bundles. */
export async function archive(options: GateOptions = {}) {
  const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY }, ...options })
  const owner = await gate.key()
  const [ann, bob] = [await gate.key({ identity: 'ann' }), await gate.key({ identity: 'bob' })]
  const logKey = readSigningKey(`${gate.dir}/data/signing-key.pem`)
  if (logKey === undefined) throw new Error('the service made no signing key')
  const trust: Trust = readTrust(JSON.stringify(trustFile(trustOf(gate.server.store))))
  const ask = async (action: string, amount: number) => {
    const context = { amount, to: { iban: 'DE00', tags: ['a', 'b'] }, urgent: true, memo: null, note: `for ${amount}` }
    const body = { tenantId: 'acme', action, context, plan: { action } }
    return (await gate.call(owner, 'POST', '/gate/check', body)).body.data
  }
  const bundleOf = async (id: string): Promise<Bundle> =>
    (await gate.call(owner, 'GET', `/evidence/bundle/${id}`)).body.data
  return {
    gate,
    owner,
    ann,
    bob,
    logKey,
    trust,
    ask,
    /** The id of a decision about a transfer. */
    decide: async (amount: number): Promise<string> => (await ask('payment.transfer', amount)).decisionId,
    /** The id of the decision to allow what one person (a transfer) or two (a refund) have approved. */
    async approved(action: 'payment.transfer' | 'payment.refund', amount: number): Promise<string> {
      const { approvalId } = await ask(action, amount)
      const voters = action === 'payment.transfer' ? [ann] : [ann, bob]
      for (const [i, voter] of voters.entries()) {
        const vote = { approverId: ['ann', 'bob'][i], comment: 'fine' }
        await gate.call(voter, 'POST', `/approvals/${approvalId}/approve`, vote)
      }
      return (await ask(action, amount)).decisionId
    },
    bundleOf,
    /** As the offline verifier does. */
    verify: (bundle: unknown): Verification => verifyBundle(bundle, { trust, nowMs: Date.now() }),
    /** Signs as a thief of the log key would: under a bundle key of their own. */
    resign: (bundle: Bundle): Bundle => certified(bundle, logKey),
  }
}

export async function verifyOverHttp(
  gate: Gate,
  key: { secret: string; tenant: string },
  bundle: unknown,
): Promise<Verification> {
  return (await gate.call(key, 'POST', '/evidence/verify', { bundle })).body.data
}

/** Verifies a bundle as `POST /evidence/verify` does, on a trail without a service. */
export function verifiedHere(deps: EvidenceDeps, bundle: Bundle): Promise<ServiceVerification> {
  const body = utf8(JSON.stringify({ tenantId: 'acme', bundle }))
  return verifyEvidence({ ...deps, examine: examineHere }, { tenantId: 'acme' }, body)
}

/** Returns the bundle as an envelope of DSSE, with the same signature. */
export function envelopeFor(bundle: Bundle): Envelope {
  const { signatures, ...unsigned } = bundle
  return envelopeOf('bundle', unsigned, signatures.service.publicKey, signatures.service.signature)
}

/** Returns the results of the checks that are not ok, by check. */
export function notOk({ checks }: Verification): Record<string, string> {
  return Object.fromEntries(checks.filter(({ result }) => result !== 'ok').map(({ check, result }) => [check, result]))
}
