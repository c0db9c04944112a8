import { gateTool } from '@gate-sidecar/client/openai-agents'
import { Agent, tool as plainTool, Runner } from '@openai/agents'
import { z } from 'zod'
import { holdTo, type Scene, type Subject } from '../promises.ts'
import { REQUEST } from '../world.ts'
import { scripted } from './model.ts'

const runner = new Runner({ tracingDisabled: true, toolNotFoundBehavior: 'return_error_to_model' })

function agentOf({ session, turns, tools, approvalTimeout }: Scene) {
  const model = scripted(turns)
  const tool = gateTool(session, plainTool, { approvalTimeout })
  const errorFunction = (_: unknown, error: unknown) => String(error)
  const agent = new Agent({
    name: 'payer',
    model,
    tools: [
      tool({
        name: 'read_file',
        description: 'Reads a file',
        parameters: z.object({ path: z.string() }),
        execute: tools.read_file,
        errorFunction,
      }),
      tool({
        name: 'pay',
        description: 'Pays',
        parameters: z.object({ recipient: z.string(), amount: z.number() }),
        execute: tools.pay,
        errorFunction,
      }),
    ],
  })
  return { agent, model }
}

/** Results of tools in the last request. */
function toldTo({ requests }: ReturnType<typeof scripted>): string[] {
  const input = requests.at(-1)?.input ?? []
  return (typeof input === 'string' ? [] : input)
    .flatMap((item) => (item.type === 'function_call_result' ? [item] : []))
    .sort((one, other) => one.callId.localeCompare(other.callId))
    .map(({ name, output }) => `${name}: ${typeof output === 'string' ? output : JSON.stringify(output)}`)
}

const subjects: Subject[] = [
  {
    name: 'OpenAI Agents SDK',
    async run(scene) {
      const { agent, model } = agentOf(scene)
      await runner.run(agent, REQUEST)
      return toldTo(model)
    },
  },
  {
    name: 'OpenAI Agents SDK, streamed',
    async run(scene) {
      const { agent, model } = agentOf(scene)
      const result = await runner.run(agent, REQUEST, { stream: true })
      await result.completed
      return toldTo(model)
    },
  },
]

await holdTo(subjects)
