import type { ToolArgs } from '@gate-sidecar/client'
import { type LocalTools, runResponseItems, runToolCalls } from '@gate-sidecar/client/tools'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { holdTo, type Subject, type ToolBox } from '../promises.ts'
import { REQUEST } from '../world.ts'
import { completion, response } from './model.ts'

const toolsOf = ({ read_file, pay }: ToolBox): LocalTools => ({
  read_file: ({ path }: ToolArgs) => read_file({ path: String(path) }),
  pay: ({ recipient, amount }: ToolArgs) => pay({ recipient: String(recipient), amount: Number(amount) }),
})

const subjects: Subject[] = [
  {
    name: 'a loop around Chat Completions',
    async run({ session, turns, tools, approvalTimeout }) {
      const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: REQUEST }]
      for (const [turn, calls] of turns.entries()) {
        const { tool_calls = [] } = completion(turn, calls).choices[0]?.message ?? {}
        messages.push({ role: 'assistant', tool_calls })
        messages.push(...(await runToolCalls(session, toolsOf(tools), tool_calls, { approvalTimeout })))
      }
      return messages.flatMap((message) => (message.role === 'tool' ? [String(message.content)] : []))
    },
  },
  {
    name: 'a loop around Responses',
    async run({ session, turns, tools, approvalTimeout }) {
      const input: ResponseInputItem[] = [{ role: 'user', content: REQUEST }]
      for (const [turn, calls] of turns.entries()) {
        const { output } = response(turn, calls)
        input.push(...(output as ResponseInputItem[]))
        input.push(...(await runResponseItems(session, toolsOf(tools), output, { approvalTimeout })))
      }
      return input.flatMap((item) => (item.type === 'function_call_output' ? [String(item.output)] : []))
    },
  },
]

await holdTo(subjects)
