import { readFileSync } from 'node:fs'
import { GateClient, type GateOptions, type GateSession, type SessionOptions } from '@gate-sidecar/client'
import { between } from '../test/client/between.ts'
import type { Step } from '../test/client/cases.ts'
import { plainFetch } from '../test/declared.ts'
import { type Cleanup, startGate } from '../test/helpers.ts'
import { until } from '../test/until.ts'

// Frameworks fetch from servers of their own here.
globalThis.fetch = plainFetch

const POLICY = readFileSync(new URL('policies/acme/main.yaml', import.meta.url), 'utf8')

export interface Made {
  action: string
  decision: string
  /** Undefined until an outcome is recorded. */
  outcome: string | undefined
}

export interface WorldSession extends Partial<SessionOptions> {
  step?: Step
  client?: Partial<GateOptions>
  /** True for another session of the last session's agent. */
  isSameAgent?: boolean
}

export interface World {
  url: string
  /** Keys of an agent and of an approver. */
  keys(): Promise<{ agent: string; approver: string }>
  /** A session of a new agent, over a connection that fares as `step` says. */
  session(options?: WorldSession): Promise<GateSession>
  /** Votes on each approval that the newest session waits for, once there is one. */
  vote(vote: 'approve' | 'reject'): Promise<void>
  pending(): Promise<number>
  /** Decisions of the newest session, oldest first. */
  decisions(): Promise<Made[]>
}

export const REQUEST = 'Read bill.txt, and pay the 50 EUR to DE02'

/** Starts a sidecar behind a proxy, with people who vote. */
export async function world(t: Cleanup): Promise<World> {
  const gate = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const proxy = await between(gate.server.url)
  t.after(() => proxy.close())
  const [owner, approver] = [await gate.key(), await gate.key({ roles: ['approver'], identity: 'ann' })]
  let agent = await gate.key({ roles: ['agent'] })
  const listOf = async (path: string) => (await gate.call(owner, 'GET', path)).body.data
  const pending = async (): Promise<{ id: string }[]> => {
    const all: { id: string; requestedBy: string }[] = await listOf('/approvals')
    return all.filter(({ requestedBy }) => requestedBy === agent.id)
  }
  return {
    url: gate.server.url,
    keys: async () => ({ agent: (await gate.key({ roles: ['agent'] })).secret, approver: approver.secret }),
    async session({ step = 'pass', client = {}, isSameAgent = false, ...options } = {}) {
      if (!isSameAgent) agent = await gate.key({ roles: ['agent'] })
      proxy.play([], step)
      const timeout = step === 'hang' ? 700 : 20_000
      const connection = { tenantId: 'acme', apiKey: agent.secret, baseUrl: proxy.url, timeout, retries: 0 }
      return new GateClient({ ...connection, ...client }).session({ userRequest: REQUEST, ...options })
    },
    async vote(vote) {
      const held = await until('an approval is asked for', async () => (await pending()).length > 0 && pending())
      const body = { approverId: 'ann', ...(vote === 'reject' && { reason: 'not this one' }) }
      for (const { id } of held) await gate.call(approver, 'POST', `/approvals/${id}/${vote}`, body)
    },
    pending: async () => (await pending()).length,
    async decisions() {
      const entries = await listOf('/audit/chain?eventType=gate.decision&order=asc&limit=500')
      const mine = entries.filter(({ actor }: { actor: { id: string } }) => actor.id === agent.id)
      return Promise.all(mine.map(({ data }: { data: { id: string } }) => listOf(`/decisions/${data.id}`).then(madeOf)))
    },
  }
}

interface Shown {
  action: string
  decision: string
  outcome: { status: string } | null
}

function madeOf({ action, decision, outcome }: Shown): Made {
  return { action, decision, outcome: outcome?.status }
}
