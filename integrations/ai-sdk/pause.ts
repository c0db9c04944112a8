import { GateClient } from '@gate-sidecar/client'
import { gateTools, pauseWhenHeld } from '@gate-sidecar/client/ai-sdk'
import { type ModelMessage, type ToolApprovalResponse, ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { scripted } from './model.ts'

const { GATE_URL: baseUrl = 'http://127.0.0.1:4283', GATE_API_KEY: apiKey = '', APPROVER_API_KEY = '' } = process.env
const prompt = 'Pay 5000 EUR to DE02'
const session = new GateClient({ tenantId: 'acme', apiKey, baseUrl }).session({ userRequest: prompt })

const held: string[] = []
const agent = new ToolLoopAgent({
  model: scripted([[{ name: 'pay', args: { recipient: 'DE02', amount: 5000 } }]]),
  tools: gateTools(session, {
    pay: tool({
      inputSchema: z.object({ recipient: z.string(), amount: z.number() }),
      execute: async ({ recipient, amount }) => `paid ${amount} EUR to ${recipient}`,
    }),
  }),
  toolApproval: pauseWhenHeld(session, { onPending: ({ approvalId }) => held.push(approvalId ?? '') }),
})

const messages: ModelMessage[] = [{ role: 'user', content: prompt }]
const paused = await agent.generate({ messages })
messages.push(...paused.responseMessages)

// Store the messages. Go on when people have decided, who do so at the gate: the answer that is put here approves nothing.
const people = new GateClient({ tenantId: 'acme', apiKey: APPROVER_API_KEY, baseUrl })
for (const approvalId of held) await people.approvals.approve(approvalId, { approverId: 'ann' })
const answers: ToolApprovalResponse[] = []
for (const part of paused.content) {
  if (part.type !== 'tool-approval-request') continue
  console.log(`paused: ${part.reason}`)
  answers.push({ type: 'tool-approval-response', approvalId: part.approvalId, approved: true })
}
messages.push({ role: 'tool', content: answers })

const { responseMessages } = await agent.generate({ messages })
for (const part of responseMessages.flatMap(({ role, content }) => (role === 'tool' ? content : []))) {
  if (part.type === 'tool-result' && 'value' in part.output) console.log(part.output.value)
}
