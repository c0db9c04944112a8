import assert from 'node:assert/strict'
import type { Gate } from '../helpers.ts'
import { HOSTILE } from './hostile.ts'
import { browser } from './shared-browser.ts'
import { type Opened, openConsole } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

interface Asked {
  decisionId: string
  approvalId: string | null
}

/** Makes decisions of a service, and opens them in its console. */
export function decisionsOf(gate: Gate, { owner, auditor, agent }: Record<'owner' | 'auditor' | 'agent', Key>) {
  async function ask(amount: number, more: object = {}, key = agent): Promise<Asked> {
    const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount, ...more } }
    const answer = await gate.call(key, 'POST', '/gate/check', body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.data
  }

  async function detailOf(id: string, key = auditor, options = {}): Promise<Opened> {
    const opened = await openConsole(browser, gate, key, `decisions/${id}`, options)
    await opened.page.locator('.decision-summary').waitFor()
    await opened.page.locator('.timeline').waitFor()
    return opened
  }

  async function approvedTransfer(): Promise<{ held: Asked; used: Asked }> {
    const held = await ask(2000, { iban: HOSTILE[0] })
    const vote = { approverId: 'olga', comment: `fine ${HOSTILE[1]}` }
    assert.equal((await gate.call(owner, 'POST', `/approvals/${held.approvalId}/approve`, vote)).status, 200)
    const used = await ask(2000, { iban: HOSTILE[0] })
    const told = { decisionId: used.decisionId, status: 'failed', durationMs: 12, error: HOSTILE[3] }
    assert.equal((await gate.call(agent, 'POST', '/gate/outcome', told)).status, 200)
    return { held, used }
  }

  return { ask, detailOf, approvedTransfer }
}
