import { after } from 'node:test'
import { type Answer, type Gate, startGate } from '../helpers.ts'

export type TestKey = { id: string; secret: string; tenant: string }

/** One action of each kind of hold, in one tenant. */
export const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
approval: {expiresIn: 1h, unbound: [context.toolCallId, plan.note]}
domains: {finance: ["pay.*"]}
rules:
  - {id: one, actions: [pay.one], effect: require_approval, reason: One person.}
  - {id: eight, actions: [pay.eight], effect: require_approval, reason: Eight people., approval: {quorum: 8}}
  - {id: two, actions: [pay.two], effect: require_approval, reason: Two people., approval: {quorum: 2}}
  - {id: self, actions: [pay.self], effect: require_approval, reason: Anyone., approval: {selfApproval: true}}
  - {id: self-two, actions: [pay.self-two], effect: require_approval, reason: Two., approval: {selfApproval: true, quorum: 2}}
  - {id: groups, actions: [pay.groups], effect: require_approval, reason: Treasury., approval: {approvers: [treasury, board]}}
  - {id: mail, actions: ["email.*"], effect: allow, reason: Fine.}
`

export const T0 = Date.parse('2026-03-01T10:00:00.000Z')

export interface Scene {
  gate: Gate
  agent: TestKey
  owner: TestKey
  /** Moves the clock. */
  wait(ms: number): void
  /** Asks; every number is another request. */
  ask(action: string, n: number, more?: object, key?: TestKey): Promise<Answer['body']>
  vote(key: TestKey, approvalId: string, body?: object): Promise<Answer>
  reject(key: TestKey, approvalId: string, reason?: string): Promise<Answer>
  status(approvalId: string): Promise<string>
  stop(body?: object): Promise<Answer>
  recover(): Promise<Answer>
}

/** The service with an agent, an owner and a clock that stands still. */
export async function scene(options: { dir?: string; policy?: string; startMs?: number } = {}): Promise<Scene> {
  let now = options.startMs ?? T0
  const gate = await startGate(
    { after },
    {
      clock: () => now,
      policies: { 'acme/main.yaml': options.policy ?? POLICY },
      ...(options.dir !== undefined && { dir: options.dir }),
    },
  )
  const agent = await gate.key({ roles: ['agent'] })
  const owner = await gate.key({ roles: ['owner'] })
  return {
    gate,
    agent,
    owner,
    wait: (ms) => {
      now += ms
    },
    async ask(action, n, more = {}, key = agent) {
      const body = { tenantId: 'acme', action, context: { n }, ...more }
      return (await gate.call(key, 'POST', '/gate/check', body)).body.data
    },
    vote: (key, approvalId, body = { approverId: 'someone' }) =>
      gate.call(key, 'POST', `/approvals/${approvalId}/approve`, body),
    reject: (key, approvalId, reason = 'no') =>
      gate.call(key, 'POST', `/approvals/${approvalId}/reject`, { approverId: 'someone', reason }),
    status: async (approvalId) => (await gate.call(owner, 'GET', `/approvals/${approvalId}`)).body.data.status,
    stop: (body = {}) =>
      gate.call(owner, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x', ...body }),
    async recover() {
      const answer = await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
      // Events after the stop get a later time, as with a running clock.
      now += 1
      return answer
    },
  }
}
