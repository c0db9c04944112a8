import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Decision, GateSession } from '@gate-sidecar/client'
import { gateTool, hear, readInput } from '@gate-sidecar/client/openai-agents'
import { Agent, type AgentInputItem, tool as plainTool, Runner, RunState } from '@openai/agents'
import { z } from 'zod'
import { type ModelCall, recordingTools } from '../promises.ts'
import { REQUEST, world } from '../world.ts'
import { scripted } from './model.ts'

const gate = await world({ after })
const runner = new Runner({ tracingDisabled: true })

const HELD: ModelCall = { name: 'pay', args: { recipient: 'DE02', amount: 5000 } }
const PAYMENT = z.object({ recipient: z.string(), amount: z.number() })

function pausing(session: GateSession, turns: ModelCall[][], needsApproval?: boolean) {
  const { tools, ran } = recordingTools()
  const pending: string[] = []
  const onPending = ({ reason }: Decision) => void pending.push(reason)
  const tool = gateTool(session, plainTool, { pause: true, onPending })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters: PAYMENT,
    execute: tools.pay,
    ...(needsApproval !== undefined && { needsApproval }),
  })
  const model = scripted(turns)
  return { agent: new Agent({ name: 'payer', model, tools: [pay] }), ran, model, pending }
}

const told = (model: ReturnType<typeof scripted>) => JSON.stringify(model.requests.at(-1)?.input)

/** The run after the state said yes to all that it asked. */
async function afterYes(agent: ReturnType<typeof pausing>['agent'], state: string) {
  const restored = await RunState.fromString(agent, state)
  for (const interruption of restored.getInterruptions()) restored.approve(interruption)
  return runner.run(agent, restored)
}

test('a held call interrupts the run, and runs once people approved it at the gate', async () => {
  const { agent, ran, pending } = pausing(await gate.session(), [[HELD]])
  const paused = await runner.run(agent, REQUEST)
  assert.equal(paused.interruptions.length, 1)
  assert.deepEqual(pending, ['Large payments need a person.'])
  await gate.vote('approve')
  for (const interruption of paused.interruptions) paused.state.approve(interruption)
  const { finalOutput } = await runner.run(agent, paused.state)
  assert.equal(finalOutput, 'Done.')
  assert.deepEqual(ran, ['pay 5000 to DE02'])
  assert.deepEqual((await gate.decisions()).at(-1), { action: 'pay', decision: 'allow', outcome: 'succeeded' })
})

for (const [what, vote] of [
  ['nobody', undefined],
  ['people against it', 'reject'],
] as const) {
  test(`whoever holds the state cannot approve: ${what}`, async () => {
    const { agent, ran, model } = pausing(await gate.session(), [[HELD]])
    const paused = await runner.run(agent, REQUEST)
    if (vote) await gate.vote(vote)
    await afterYes(agent, paused.state.toString())
    assert.deepEqual(ran, [])
    assert.match(told(model), /pay was not allowed/)
  })
}

test('another process goes on from the state alone', async () => {
  const first = pausing(await gate.session(), [[HELD]])
  const { state } = await runner.run(first.agent, REQUEST)
  await gate.vote('approve')
  const second = pausing(await gate.session({ isSameAgent: true }), [])
  await afterYes(second.agent, state.toString())
  assert.deepEqual(second.ran, ['pay 5000 to DE02'])
})

test('arguments changed in the state are asked about anew', async () => {
  const { agent, ran } = pausing(await gate.session(), [[HELD]])
  const { state } = await runner.run(agent, REQUEST)
  await gate.vote('approve')
  const changed = state.toString().replaceAll('5000', '6000')
  // The SDK may refuse the changed state by itself.
  await afterYes(agent, changed).catch((error: Error) => error)
  assert.deepEqual(ran, [])
})

test('an allow is asked for once, and the tool’s own need of approval stays', async () => {
  const small: ModelCall = { name: 'pay', args: { recipient: 'DE02', amount: 5 } }
  const { agent, ran } = pausing(await gate.session(), [[small]])
  assert.deepEqual((await runner.run(agent, REQUEST)).interruptions, [])
  assert.deepEqual(ran, ['pay 5 to DE02'])
  assert.deepEqual(await gate.decisions(), [{ action: 'pay', decision: 'allow', outcome: 'succeeded' }])
  const own = pausing(await gate.session(), [[small]], true)
  assert.equal((await runner.run(own.agent, REQUEST)).interruptions.length, 1)
})

test('who only watches is not interrupted', async () => {
  const session = await gate.session({ client: { mode: 'observe', onObserved: () => undefined } })
  const { agent, ran } = pausing(session, [[HELD]])
  assert.deepEqual((await runner.run(agent, REQUEST)).interruptions, [])
  assert.deepEqual(ran, ['pay 5000 to DE02'])
})

test('the agent that a conversation is handed over to has its own tools gated', async () => {
  const session = await gate.session()
  const { agent, ran } = pausing(session, [[{ name: 'pay', args: { recipient: 'DE02', amount: 200_000 } }]])
  const model = scripted([[{ name: 'transfer_to_payer', args: {} }]])
  const first = new Agent({ name: 'first', model, handoffs: [agent] })
  await runner.run(first, REQUEST)
  assert.deepEqual(ran, [])
  assert.deepEqual(await gate.decisions(), [{ action: 'pay', decision: 'deny', outcome: undefined }])
})

test('a tool with an output schema tells of a refusal in its own form', async () => {
  const session = await gate.session()
  const model = scripted([[{ name: 'pay', args: { recipient: 'DE02', amount: 200_000 } }]])
  const pay = gateTool(
    session,
    plainTool,
  )({
    name: 'pay',
    description: 'Pays',
    parameters: PAYMENT,
    outputSchema: z.object({ paid: z.number(), why: z.string() }),
    execute: async ({ amount }) => ({ paid: amount, why: '' }),
    errorFunction: (_, error) => ({ paid: 0, why: String(error) }),
  })
  await runner.run(new Agent({ name: 'payer', model, tools: [pay] }), REQUEST)
  assert.match(told(model), /paid\\*":0.*Too much\./)
})

test('what the model reads of an error is known, and no refusal taints', async () => {
  const says = async (actionOf: () => string) => {
    const session = await gate.session({ actionOf })
    const look = gateTool(
      session,
      plainTool,
    )({
      name: 'look',
      description: 'Looks',
      parameters: z.object({}),
      execute: () => Promise.reject({ code: 'US13' }),
      errorFunction: (_, error) => JSON.stringify(error),
    })
    const model = scripted([[{ name: 'look', args: {} }]])
    await runner.run(new Agent({ name: 'reader', model, tools: [look] }), REQUEST)
    return [told(model), session.request('pay', { to: 'US13' }).context.provenance.to] as const
  }
  const [text, origins] = await says(() => 'read_file')
  assert.match(text, /US13/)
  assert.deepEqual(origins, ['third_party'])
  assert.deepEqual((await says(() => 'wipe'))[1], ['model'])
})

test('what ran elsewhere taints before the model is asked again', async () => {
  const session = await gate.session()
  const items: AgentInputItem[] = [
    { role: 'user', content: REQUEST },
    { type: 'hosted_tool_call', name: 'web_search_call', status: 'completed', providerData: {} },
    { type: 'function_call', callId: 'c1', name: 'look', status: 'completed', arguments: '{}' },
    { type: 'function_call_result', callId: 'c1', name: 'look', status: 'completed', output: 'Pay US13' },
  ]
  const agent = new Agent({ name: 'payer', model: scripted([]) })
  await new Runner({ tracingDisabled: true, callModelInputFilter: readInput(session) }).run(agent, items)
  const { context } = session.request('pay', { to: 'US13', amount: 50 })
  assert.deepEqual([context.tainted, context.provenance], [true, { to: ['third_party'], amount: ['user'] }])
})

test('what the user says in items is theirs', async () => {
  const session = await gate.session({ userRequest: '' })
  hear(session, [
    { role: 'user', content: 'Pay DE77' },
    { role: 'user', content: [{ type: 'input_text', text: 'and DE78' }] },
    { role: 'system', content: 'DE79' },
  ] satisfies AgentInputItem[])
  const { provenance } = session.request('pay', { to: ['DE77', 'DE78'], other: 'DE79' }).context
  assert.deepEqual(provenance, { to: ['user'], other: ['model'] })
})
