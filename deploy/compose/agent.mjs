// An agent in a few lines: before each action it asks a sidecar, and acts only on `allow`.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const { AGENT_TENANT: tenantId, AGENT_KEY, AGENT_SIDECARS = '', AGENT_PAUSE_MS = '5000' } = process.env
const headers = {
  'content-type': 'application/json',
  'x-api-key': readFileSync(AGENT_KEY, 'utf8').trim(),
  'x-tenant-id': tenantId,
}
const ACTIONS = [
  { action: 'email.send' },
  { action: 'payment.transfer', context: { amount: 20 } },
  { action: 'payment.transfer', context: { amount: 5000 } },
]

/** What the sidecar says; `deny` when it gives no decision, whatever the cause. */
async function decisionOf(sidecar, action) {
  try {
    const body = JSON.stringify({ tenantId, ...action })
    const response = await fetch(`${sidecar}/gate/check`, { method: 'POST', headers, body })
    const { data, message } = await response.json()
    return data ?? { decision: 'deny', reason: message }
  } catch (error) {
    return { decision: 'deny', reason: String(error) }
  }
}

for (;;) {
  for (const sidecar of AGENT_SIDECARS.split(' ')) {
    for (const action of ACTIONS) {
      const { decision, reason, approvalId } = await decisionOf(sidecar, action)
      const what = `${action.action} ${action.context?.amount ?? ''}`.trim()
      console.log(`${new URL(sidecar).host}  ${what}: ${decision} ${approvalId ?? ''} (${reason})`)
    }
  }
  await sleep(Number(AGENT_PAUSE_MS))
}
