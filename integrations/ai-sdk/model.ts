import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

/** A call as a model writes it; a text is JSON, or what ought to be. */
interface Call {
  name: string
  args: Record<string, unknown> | string
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** Source of answers for a model that makes these calls, turn by turn, and then says that it is done. */
export function script(turns: readonly (readonly Call[])[]) {
  let turn = 0
  return () => {
    const calls = turns[turn] ?? []
    turn += 1
    const finishReason = { unified: calls.length > 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined }
    const toolCalls = calls.map(({ name, args }, i) => ({
      type: 'tool-call' as const,
      toolCallId: `call_${turn}_${i}`,
      toolName: name,
      input: typeof args === 'string' ? args : JSON.stringify(args),
    }))
    const content = toolCalls.length > 0 ? toolCalls : [{ type: 'text' as const, text: 'Done.' }]
    return { content, toolCalls, finishReason, usage: USAGE, warnings: [] }
  }
}

/** A model that follows such a script. It costs nothing, and needs no network. */
export function scripted(turns: Parameters<typeof script>[0]): MockLanguageModelV4 {
  const next = script(turns)
  return new MockLanguageModelV4({
    doGenerate: async () => next(),
    doStream: async () => {
      const { toolCalls, finishReason } = next()
      const start = { type: 'stream-start' as const, warnings: [] }
      const chunks = [start, ...toolCalls, { type: 'finish' as const, finishReason, usage: USAGE }]
      return { stream: simulateReadableStream({ chunks }) }
    },
  })
}
