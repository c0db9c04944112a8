import { gateToolCalls } from '@gate-sidecar/client/langchain'
import { createAgent, createMiddleware, ToolMessage, tool } from 'langchain'
import { z } from 'zod'
import { holdTo, type Scene, type Subject } from '../promises.ts'
import { REQUEST } from '../world.ts'
import { scripted } from './model.ts'

function agentOf({ session, turns, tools, approvalTimeout }: Scene) {
  const model = scripted(turns)
  const gate = createMiddleware({
    name: 'gate',
    wrapToolCall: gateToolCalls(session, { ToolMessage, approvalTimeout }),
  })
  const agent = createAgent({
    model,
    tools: [
      tool(tools.read_file, { name: 'read_file', schema: z.object({ path: z.string() }) }),
      tool(tools.pay, { name: 'pay', schema: z.object({ recipient: z.string(), amount: z.number() }) }),
    ],
    middleware: [gate],
  })
  return { agent, model }
}

/** Results of tools in the last request, those of calls that did not run included. */
function toldTo({ calls }: ReturnType<typeof scripted>): string[] {
  const messages = calls.at(-1)?.messages ?? []
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? [`${message.name}: ${message.text}`] : []))
}

const input = { messages: [{ role: 'user', content: REQUEST }] }

const subjects: Subject[] = [
  {
    name: 'LangChain, invoke',
    malformed: 'ends',
    async run(scene) {
      const { agent, model } = agentOf(scene)
      await agent.invoke(input)
      return toldTo(model)
    },
  },
  {
    name: 'LangChain, stream',
    malformed: 'ends',
    async run(scene) {
      const { agent, model } = agentOf(scene)
      for await (const _ of await agent.stream(input, { streamMode: 'updates' }));
      return toldTo(model)
    },
  },
]

await holdTo(subjects)
