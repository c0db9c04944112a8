import type { Gate, KeyOptions } from '../helpers.ts'

const HELD = `
apiVersion: gate-sidecar/v1
tenant: TENANT
domains: {finance: ["payment.*"], communication: ["email.*"]}
facts: {context.amount: {type: number, default: 0}}
thresholds: {requireApproval: 40, deny: 99}
approval: {expiresIn: 1h, unbound: [context.toolCallId, 'context["transfer note"]', context.meta.note]}
risk:
  - {name: amount, actions: ["payment.*"], weight: 90, scale: {fact: context.amount, from: 0, to: 10000}}
rules:
  - {id: wires, actions: ["payment.wire"], effect: require_approval, reason: Wires need two people of treasury., approval: {quorum: 2, approvers: [treasury]}}
  - {id: payments, actions: ["payment.transfer"], effect: require_approval, reason: Payments need a person.}
  - {id: hurried, actions: ["payment.now"], effect: require_approval, reason: Now or never., approval: {expiresIn: 45s}}
  - {id: mail, actions: ["email.*"], effect: require_approval, reason: Mail to others is read first., approval: {expiresIn: 2h}}
  - {id: own, actions: ["own.*"], effect: require_approval, reason: Who asks may approve., approval: {selfApproval: true}}
  - {id: reads, actions: ["invoice.read"], effect: allow, reason: Reading is fine.}
`

/** The policies of tenants in which everything is held, with terms of each kind: each test has one of its own. */
export function heldPolicies(...tenants: string[]): Record<string, string> {
  return Object.fromEntries(tenants.map((tenant) => [`${tenant}/main.yaml`, HELD.replace('TENANT', tenant)]))
}

export type Key = Awaited<ReturnType<Gate['key']>>

/** Asks for an action as an agent does. @returns the id of the approval that it waits for */
export async function ask(
  gate: Gate,
  agent: Key,
  action: string,
  context: object = {},
  more: { plan?: object } = {},
): Promise<string> {
  const answer = await gate.call(agent, 'POST', '/gate/check', { tenantId: agent.tenant, action, context, ...more })
  const { approvalId } = answer.body.data ?? {}
  if (typeof approvalId !== 'string') throw new Error(`not held: ${JSON.stringify(answer.body)}`)
  return approvalId
}

export async function approvalOf(gate: Gate, key: Key, id: string) {
  return (await gate.call(key, 'GET', `/approvals/${id}`)).body.data
}

/** People and agents.  */
export async function people(gate: Gate, tenant: string) {
  const key = (roles: KeyOptions['roles'], identity: string, groups: string[] = []): Promise<Key> =>
    gate.key({ tenant, identity, groups, ...(roles && { roles }) })
  return {
    ann: await key(['approver'], 'ann', ['treasury']),
    ben: await key(['approver'], 'ben', ['treasury']),
    cleo: await key(['approver'], 'cleo'),
    bot: await key(['agent'], 'billing-bot'),
    mailer: await key(['agent'], 'mailer'),
    aud: await key(['auditor'], 'aud'),
    olga: await key(['owner'], 'olga'),
  }
}
