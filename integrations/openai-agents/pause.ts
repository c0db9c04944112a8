import { GateClient } from '@gate-sidecar/client'
import { gateTool } from '@gate-sidecar/client/openai-agents'
import { Agent, tool as plainTool, Runner, RunState } from '@openai/agents'
import { z } from 'zod'
import { scripted } from './model.ts'

const { GATE_URL: baseUrl = 'http://127.0.0.1:4283', GATE_API_KEY: apiKey = '', APPROVER_API_KEY = '' } = process.env
const request = 'Pay 5000 EUR to DE02'
const session = new GateClient({ tenantId: 'acme', apiKey, baseUrl }).session({ userRequest: request })

const held: string[] = []
const tool = gateTool(session, plainTool, { pause: true, onPending: ({ approvalId }) => held.push(approvalId ?? '') })
const pay = tool({
  name: 'pay',
  description: 'Pays',
  parameters: z.object({ recipient: z.string(), amount: z.number() }),
  execute: async ({ recipient, amount }) => `paid ${amount} EUR to ${recipient}`,
})
const model = scripted([[{ name: 'pay', args: { recipient: 'DE02', amount: 5000 } }]])
const agent = new Agent({ name: 'payer', model, tools: [pay] })
const runner = new Runner({ tracingDisabled: true })

const paused = await runner.run(agent, request)
console.log(`paused: ${paused.interruptions.map(({ name }) => name)}`)
const stored = paused.state.toString()

// Go on when people have decided, who do so at the gate: the approval in the state approves nothing.
const people = new GateClient({ tenantId: 'acme', apiKey: APPROVER_API_KEY, baseUrl })
for (const approvalId of held) await people.approvals.approve(approvalId, { approverId: 'ann' })

const state = await RunState.fromString(agent, stored)
for (const interruption of state.getInterruptions()) state.approve(interruption)
const { newItems } = await runner.run(agent, state)
for (const item of newItems) if (item.type === 'tool_call_output_item') console.log(item.output)
