import { gateToolCalls } from '@gate-sidecar/client/langchain'
import { createAgent, createMiddleware, type ToolCallRequest, ToolMessage, tool } from 'langchain'
import { z } from 'zod'
import { type Conversation, holdToSessions, type SharedSubject } from '../conversations.ts'
import { REQUEST } from '../world.ts'
import { scripted } from './model.ts'

type Request = ToolCallRequest<Record<string, unknown>, Conversation> & { state: { messages: unknown[] } }

const langchain: SharedSubject = {
  name: 'LangChain',
  wrap({ read_file, pay }) {
    const contextSchema = z.object({ session: z.custom<Conversation['session']>(() => true) })
    const gate = createMiddleware({
      name: 'gate',
      contextSchema,
      wrapToolCall: gateToolCalls((request: Request) => request.runtime.context.session, { ToolMessage }),
    })
    const tools = [
      tool(read_file, { name: 'read_file', schema: z.object({ path: z.string() }) }),
      tool(pay, { name: 'pay', schema: z.object({ recipient: z.string(), amount: z.number() }) }),
    ]
    return async (context, turns) => {
      const agent = createAgent({ model: scripted(turns), tools, middleware: [gate], contextSchema })
      const { messages } = await agent.invoke({ messages: [{ role: 'user', content: REQUEST }] }, { context })
      return messages.flatMap((message) => (ToolMessage.isInstance(message) ? [message.text] : []))
    }
  },
}

await holdToSessions([langchain])
