import { after } from 'node:test'
import type { Bundle, UnsignedBundle } from '../../src/evidence/bundle.ts'
import { signBundle } from '../../src/evidence/sign.ts'
import { type Verification, verifyBundle } from '../../src/evidence/verify.ts'
import { readSigningKey } from '../../src/files/signing-key.ts'
import { type Gate, startGate } from '../helpers.ts'

/** A service with a few decisions, and what is needed to check and to forge its bundles. */
export async function archive() {
  const gate = await startGate({ after })
  const owner = await gate.key()
  const privateKey = readSigningKey(`${gate.dir}/data/signing-key.pem`)
  if (privateKey === undefined) throw new Error('the service made no signing key')
  const decide = async (amount: number): Promise<string> => {
    const context = { amount, to: { iban: 'DE00', tags: ['a', 'b'] }, urgent: true, memo: null }
    const body = { tenantId: 'acme', action: 'payment.transfer', context, plan: { action: 'payment.transfer' } }
    return (await gate.call(owner, 'POST', '/gate/check', body)).body.data.decisionId
  }
  const bundleOf = async (id: string): Promise<Bundle> =>
    (await gate.call(owner, 'GET', `/evidence/bundle/${id}`)).body.data
  const publicKeys = Array.from(gate.server.store.state().signingKeys.values(), ({ publicKey }) => publicKey)
  return {
    gate,
    owner,
    privateKey,
    publicKeys,
    decide,
    bundleOf,
    /** As the offline verifier does. */
    verify: (bundle: unknown): Verification => verifyBundle(bundle, { publicKeys, nowMs: Date.now() }),
    /** As who has stolen the service's key would. */
    resign: (bundle: UnsignedBundle & { signatures?: unknown }): Bundle => {
      const { signatures: _, ...unsigned } = bundle
      return signBundle(unsigned, privateKey)
    },
  }
}

export async function verifyOverHttp(
  gate: Gate,
  key: { secret: string; tenant: string },
  bundle: unknown,
): Promise<Verification> {
  return (await gate.call(key, 'POST', '/evidence/verify', { bundle })).body.data
}
