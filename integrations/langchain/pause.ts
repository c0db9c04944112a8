import { GateClient } from '@gate-sidecar/client'
import { gateToolCalls } from '@gate-sidecar/client/langchain'
import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import { createAgent, createMiddleware, ToolMessage, tool } from 'langchain'
import { z } from 'zod'
import { scripted } from './model.ts'

const { GATE_URL: baseUrl = 'http://127.0.0.1:4283', GATE_API_KEY: apiKey = '', APPROVER_API_KEY = '' } = process.env
const request = 'Pay 5000 EUR to DE02'
const session = new GateClient({ tenantId: 'acme', apiKey, baseUrl }).session({ userRequest: request })

const pay = tool(async ({ recipient, amount }) => `paid ${amount} EUR to ${recipient}`, {
  name: 'pay',
  schema: z.object({ recipient: z.string(), amount: z.number() }),
})
const agent = createAgent({
  model: scripted([[{ name: 'pay', args: { recipient: 'DE02', amount: 5000 } }]]),
  tools: [pay],
  middleware: [createMiddleware({ name: 'gate', wrapToolCall: gateToolCalls(session, { ToolMessage, interrupt }) })],
  checkpointer: new MemorySaver(),
})
const thread = { configurable: { thread_id: 'one' } }

await agent.invoke({ messages: [{ role: 'user', content: request }] }, thread)
const { tasks } = await agent.graph.getState(thread)
const held = tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))
for (const { reason } of held) console.log(`paused: ${reason}`)

// Go on when people have decided, who do so at the gate: what the graph is resumed with approves nothing.
const people = new GateClient({ tenantId: 'acme', apiKey: APPROVER_API_KEY, baseUrl })
for (const { approvalId } of held) await people.approvals.approve(approvalId, { approverId: 'ann' })

const { messages } = await agent.invoke(new Command({ resume: true }), thread)
for (const message of messages) if (ToolMessage.isInstance(message)) console.log(message.text)
