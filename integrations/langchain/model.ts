import { AIMessage } from '@langchain/core/messages'
import { type FakeBuiltModel, fakeModel } from '@langchain/core/testing'

/** A call as a model writes it; a text is what ought to be JSON. */
interface Call {
  name: string
  args: Record<string, unknown> | string
}

/** A model that makes these calls, turn by turn, and then says that it is done. It costs nothing, and needs no network. */
export function scripted(turns: readonly (readonly Call[])[]): FakeBuiltModel {
  const model = fakeModel()
  for (const [turn, calls] of turns.entries()) {
    const id = (i: number) => `call_${turn}_${i}`
    const tool_calls = calls.flatMap(({ name, args }, i) =>
      typeof args === 'string' ? [] : [{ name, args, id: id(i) }],
    )
    // Form in which a chat model of LangChain gives calls that it cannot parse.
    const invalid_tool_calls = calls.flatMap(({ name, args }, i) =>
      typeof args === 'string' ? [{ name, args, id: id(i), error: 'Malformed args.' }] : [],
    )
    model.respond(new AIMessage({ content: '', tool_calls, invalid_tool_calls }))
  }
  return model.respond(new AIMessage('Done.'))
}
