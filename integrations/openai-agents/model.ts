import { type Model, type ModelRequest, type protocol, Usage } from '@openai/agents'

/** A call as a model writes it; a text is JSON, or what ought to be. */
interface Call {
  name: string
  args: Record<string, unknown> | string
}

/** A model that makes these calls, turn by turn, and then says that it is done. It costs nothing, and needs no network. */
export function scripted(turns: readonly (readonly Call[])[]): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const next = (request: ModelRequest) => {
    requests.push(request)
    const turn = requests.length
    const output: (protocol.FunctionCallItem | protocol.AssistantMessageItem)[] = (turns[turn - 1] ?? []).map(
      ({ name, args }, i) => ({
        type: 'function_call',
        callId: `call_${turn}_${i}`,
        name,
        status: 'completed',
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
      }),
    )
    if (output.length > 0) return { id: `response_${turn}`, output }
    const done: protocol.AssistantMessageItem = {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Done.' }],
    }
    return { id: `response_${turn}`, output: [done] }
  }
  return {
    requests,
    getResponse: async (request) => ({ ...next(request), usage: new Usage() }),
    async *getStreamedResponse(request) {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      yield { type: 'response_done', response: { ...next(request), usage } }
    },
  }
}
