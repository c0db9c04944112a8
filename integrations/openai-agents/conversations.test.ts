import { gateTool } from '@gate-sidecar/client/openai-agents'
import { Agent, tool as plainTool, type RunContext, Runner } from '@openai/agents'
import { z } from 'zod'
import { type Conversation, holdToSessions, type SharedSubject } from '../conversations.ts'
import { REQUEST } from '../world.ts'
import { scripted } from './model.ts'

const runner = new Runner({ tracingDisabled: true })

const agents: SharedSubject = {
  name: 'OpenAI Agents SDK',
  wrap({ read_file, pay }) {
    const tool = gateTool((run: RunContext<Conversation>) => run.context.session, plainTool)
    const errorFunction = (_: unknown, error: unknown) => String(error)
    const tools = [
      tool({
        name: 'read_file',
        description: 'Reads a file',
        parameters: z.object({ path: z.string() }),
        execute: read_file,
        errorFunction,
      }),
      tool({
        name: 'pay',
        description: 'Pays',
        parameters: z.object({ recipient: z.string(), amount: z.number() }),
        execute: pay,
        errorFunction,
      }),
    ]
    return async (context, turns) => {
      const model = scripted(turns)
      await runner.run(new Agent<Conversation>({ name: 'payer', model, tools }), REQUEST, { context })
      const input = model.requests.at(-1)?.input ?? []
      return (typeof input === 'string' ? [] : input).map((item) => JSON.stringify(item))
    }
  },
}

await holdToSessions([agents])
