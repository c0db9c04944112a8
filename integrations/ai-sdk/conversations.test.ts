import { gateTools } from '@gate-sidecar/client/ai-sdk'
import { generateText, stepCountIs, tool } from 'ai'
import * as version6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import { z } from 'zod'
import { type Conversation, holdToSessions, type SharedSubject } from '../conversations.ts'
import { unfitFor } from '../node.ts'
import { REQUEST } from '../world.ts'
import { script, scripted } from './model.ts'

const READ = z.object({ path: z.string() })
const PAY = z.object({ recipient: z.string(), amount: z.number() })

const version7: SharedSubject = {
  name: 'AI SDK 7',
  skip: unfitFor('ai'),
  wrap({ read_file, pay }) {
    const contextSchema = z.custom<Conversation>()
    const tools = gateTools((options: { context: Conversation } & ToolOptions) => options.context.session, {
      read_file: tool({ inputSchema: READ, contextSchema, execute: read_file }),
      pay: tool({ inputSchema: PAY, contextSchema, execute: pay }),
    })
    return async (conversation, turns) => {
      const toolsContext = { read_file: conversation, pay: conversation }
      const model = scripted(turns)
      const { steps } = await generateText({ model, tools, toolsContext, stopWhen: stepCountIs(10), prompt: REQUEST })
      return steps.flatMap(({ content }) => content).map(toldBy)
    }
  },
}

const before: SharedSubject = {
  name: 'AI SDK 6',
  skip: unfitFor('ai6'),
  wrap({ read_file, pay }) {
    const tools = gateTools(
      (options: { experimental_context?: unknown } & ToolOptions) =>
        (options.experimental_context as Conversation).session,
      {
        read_file: version6.tool({ inputSchema: READ, execute: read_file }),
        pay: version6.tool({ inputSchema: PAY, execute: pay }),
      },
    )
    return async (experimental_context, turns) => {
      const next = script(turns)
      const model = new MockLanguageModelV3({ doGenerate: async () => next() })
      const stopWhen = version6.stepCountIs(10)
      const { steps } = await version6.generateText({ model, tools, experimental_context, stopWhen, prompt: REQUEST })
      return steps.flatMap(({ content }) => content).map(toldBy)
    }
  },
}

interface ToolOptions {
  toolCallId: string
  messages: readonly unknown[]
}

const toldBy = (part: { type: string; output?: unknown; error?: unknown }): string =>
  part.type === 'tool-error' ? String(part.error) : String(part.output ?? '')

await holdToSessions([version7, before])
