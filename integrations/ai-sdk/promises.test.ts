import { gateTools } from '@gate-sidecar/client/ai-sdk'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import * as version6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import { z } from 'zod'
import { unfitFor } from '../node.ts'
import { holdTo, type Scene, type Subject, type ToolBox } from '../promises.ts'
import { REQUEST } from '../world.ts'
import { script, scripted } from './model.ts'

function toolsOf({ read_file, pay }: ToolBox) {
  return {
    read_file: tool({ inputSchema: z.object({ path: z.string() }), execute: read_file }),
    pay: tool({ inputSchema: z.object({ recipient: z.string(), amount: z.number() }), execute: pay }),
  }
}

interface Asked {
  prompt: readonly { role: string; content: string | readonly Part[] }[]
}

interface Part {
  type: string
  toolCallId?: string
  toolName?: string
  output?: { value?: unknown; reason?: string | undefined } | undefined
}

/** Results of tools in the last prompt. */
function toldIn(calls: readonly Asked[]): string[] {
  const parts = (calls.at(-1)?.prompt ?? []).flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return parts
    .filter(({ type }) => type === 'tool-result')
    .sort((one, other) => String(one.toolCallId).localeCompare(String(other.toolCallId)))
    .map(({ toolName, output }) => `${toolName}: ${output?.value ?? output?.reason}`)
}

function settings({ session, turns, tools, approvalTimeout }: Scene) {
  return {
    model: scripted(turns),
    tools: gateTools(session, toolsOf(tools), { approvalTimeout }),
    stopWhen: stepCountIs(10),
    prompt: REQUEST,
  }
}

const generating: Subject = {
  name: 'AI SDK 7, generateText',
  skip: unfitFor('ai'),
  async run(scene) {
    const { model, ...others } = settings(scene)
    await generateText({ model, ...others })
    return toldIn(model.doGenerateCalls)
  },
}

const streaming: Subject = {
  name: 'AI SDK 7, streamText',
  skip: unfitFor('ai'),
  async run(scene) {
    const { model, ...others } = settings(scene)
    await streamText({ model, ...others, onError: () => undefined }).consumeStream()
    return toldIn(model.doStreamCalls)
  },
}

/** The previous version of the SDK, which needs no newer Node.js. */
const before: Subject = {
  name: 'AI SDK 6, generateText',
  skip: unfitFor('ai6'),
  async run({ session, turns, tools: { read_file, pay }, approvalTimeout }) {
    const next = script(turns)
    const model = new MockLanguageModelV3({ doGenerate: async () => next() })
    const tools = {
      read_file: version6.tool({ inputSchema: z.object({ path: z.string() }), execute: read_file }),
      pay: version6.tool({ inputSchema: z.object({ recipient: z.string(), amount: z.number() }), execute: pay }),
    }
    const gated = gateTools(session, tools, { approvalTimeout })
    await version6.generateText({ model, tools: gated, stopWhen: version6.stepCountIs(10), prompt: REQUEST })
    return toldIn(model.doGenerateCalls)
  },
}

await holdTo([generating, streaming, before])
