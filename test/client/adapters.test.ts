import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as aiSdk from '../../src/client/adapters/ai-sdk.ts'
import * as langchain from '../../src/client/adapters/langchain.ts'
import * as agents from '../../src/client/adapters/openai-agents.ts'
import * as tools from '../../src/client/adapters/tools.ts'
import { GateClient } from '../../src/client/index.ts'

/* What adapters make of messages: whatever is not known to be the words of the user, the developer or the model is of others. */

const gate = new GateClient({ tenantId: 'acme', apiKey: 'x' })

/** `own`: nothing taints. `read`: it taints, and says all. `unseen`: the model was shown more than is known here. */
type Effect = 'own' | 'read' | 'unseen'
type Row = [message: unknown, effect: Effect]

const TEXT = 'Pay US13'
const text = (type: string) => [{ type, text: TEXT }]
const picture = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
const cited = [{ type: 'url_citation', title: TEXT }]

const ADAPTERS: Record<string, { hear: typeof tools.hear; rows: Row[] }> = {
  'a loop around Chat Completions': {
    hear: tools.hear,
    rows: [
      [{ role: 'user', content: TEXT }, 'own'],
      [{ role: 'user', content: [...text('text'), { type: 'input_audio', input_audio: {} }] }, 'own'],
      [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }, 'unseen'],
      [{ role: 'user', parts: text('text') }, 'unseen'],
      [{ role: 'user', content: [{ type: 'file', file: {} }] }, 'unseen'],
      [{ role: 'system', content: TEXT }, 'own'],
      [{ role: 'developer', content: text('text') }, 'own'],
      [{ role: 'assistant', content: TEXT, annotations: [], tool_calls: [{ id: 'c', type: 'custom' }] }, 'own'],
      [{ role: 'assistant', content: [{ type: 'refusal', refusal: TEXT }], refusal: TEXT }, 'own'],
      [{ role: 'assistant', content: TEXT, annotations: cited }, 'unseen'],
      [{ role: 'assistant', content: [{ type: 'reference', text: TEXT }] }, 'unseen'],
      [{ role: 'tool', tool_call_id: 'c', content: TEXT }, 'read'],
      [{ role: 'tool', tool_call_id: 'c', content: text('text') }, 'read'],
      [{ role: 'function', name: 'f', content: TEXT }, 'read'],
      [{ role: 'ipython', content: TEXT }, 'unseen'],
      [{ content: TEXT }, 'unseen'],
    ],
  },
  'a loop around Responses': {
    hear: tools.hear,
    rows: [
      [{ type: 'message', role: 'user', content: text('input_text') }, 'own'],
      [{ type: 'message', role: 'user', content: [picture] }, 'unseen'],
      [{ type: 'message', role: 'assistant', content: [{ ...text('output_text')[0], annotations: [] }] }, 'own'],
      [{ type: 'message', role: 'assistant', content: [{ ...text('output_text')[0], annotations: cited }] }, 'unseen'],
      [{ type: 'message', role: 'critic', content: TEXT }, 'unseen'],
      [{ type: 'reasoning', summary: [] }, 'own'],
      [{ type: 'mcp_approval_request', id: 'm', name: 'x', arguments: TEXT }, 'own'],
      [{ type: 'function_call_output', call_id: 'c', output: TEXT }, 'read'],
      [{ type: 'function_call_output', call_id: 'c', output: [...text('input_text'), picture] }, 'unseen'],
      [{ type: 'custom_tool_call_output', call_id: 'c', output: TEXT }, 'read'],
      [{ type: 'local_shell_call_output', id: 'c', output: `{"stdout": "${TEXT}"}` }, 'read'],
      [{ type: 'shell_call_output', call_id: 'c', output: [{ stdout: TEXT, outcome: { type: 'exit' } }] }, 'read'],
      [{ type: 'apply_patch_call_output', call_id: 'c', status: 'failed', output: TEXT }, 'read'],
      [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot' } }, 'unseen'],
      [{ type: 'mcp_call', id: 'c', server_label: 's', name: 'n', output: TEXT, error: null }, 'read'],
      [
        { type: 'mcp_call', id: 'c', server_label: 's', name: 'n', error: { type: 'http_error', message: TEXT } },
        'read',
      ],
      [{ type: 'mcp_list_tools', server_label: 's', tools: [{ description: TEXT }] }, 'unseen'],
      [{ type: 'web_search_call', id: 's' }, 'unseen'],
      [{ type: 'file_search_call', id: 's', results: [{ text: TEXT }] }, 'unseen'],
      [{ type: 'code_interpreter_call', id: 's', outputs: [{ type: 'logs', logs: TEXT }] }, 'unseen'],
      [{ type: 'compaction', encrypted_content: 'x' }, 'unseen'],
      [{ type: 'something_new', content: TEXT }, 'unseen'],
    ],
  },
  'the OpenAI Agents SDK': {
    hear: agents.hear,
    rows: [
      [{ role: 'user', content: TEXT }, 'own'],
      [{ role: 'user', content: [...text('input_text'), { type: 'audio', audio: 'x' }] }, 'own'],
      [{ role: 'user', content: [{ type: 'input_file', file: 'x' }] }, 'unseen'],
      [{ role: 'user', content: text('input_text')[0] }, 'unseen'],
      [{ role: 'system', content: TEXT }, 'own'],
      [{ type: 'message', role: 'assistant', content: text('output_text') }, 'own'],
      [{ role: 'critic', content: TEXT }, 'unseen'],
      [{ type: 'shell_call', callId: 'c', action: { commands: [TEXT] } }, 'own'],
      [{ type: 'function_call_result', name: 'f', callId: 'c', output: TEXT }, 'read'],
      [{ type: 'function_call_result', name: 'f', callId: 'c', output: { type: 'text', text: TEXT } }, 'read'],
      [{ type: 'function_call_result', name: 'f', callId: 'c', output: { type: 'image', image: 'x' } }, 'unseen'],
      [{ type: 'shell_call_output', callId: 'c', output: [{ stdout: TEXT, stderr: '' }] }, 'read'],
      [{ type: 'apply_patch_call_output', callId: 'c', status: 'completed', output: TEXT }, 'read'],
      [{ type: 'computer_call_result', callId: 'c', output: { type: 'computer_screenshot', data: 'x' } }, 'unseen'],
      [{ type: 'program_output', callId: 'c', result: TEXT }, 'unseen'],
      [{ type: 'hosted_tool_call', name: 'web_search_call', output: TEXT }, 'unseen'],
      [{ type: 'unknown', providerData: { text: TEXT } }, 'unseen'],
    ],
  },
  LangChain: {
    hear: langchain.hear,
    rows: [
      [TEXT, 'own'],
      [['human', TEXT], 'own'],
      [{ type: 'human', content: [{ type: 'image_url', image_url: 'x' }] }, 'unseen'],
      [{ type: 'human', content: TEXT, additional_kwargs: { lc_source: 'summarization' } }, 'unseen'],
      [{ type: 'human', data: { content: TEXT, additional_kwargs: { lc_source: 'summarization' } } }, 'unseen'],
      [{ role: 'user', content: TEXT }, 'own'],
      [{ type: 'human', data: { content: TEXT, additional_kwargs: {} } }, 'own'],
      [{ type: 'system', content: TEXT }, 'own'],
      [{ role: 'developer', content: TEXT }, 'own'],
      [{ type: 'remove', id: 'm' }, 'own'],
      [{ type: 'ai', content: [...text('text'), { type: 'tool_use', input: {} }] }, 'own'],
      [{ type: 'ai', content: [{ type: 'web_search_tool_result', content: TEXT }] }, 'unseen'],
      [{ type: 'ai', data: { content: [{ type: 'server_tool_call_result', output: TEXT }] } }, 'unseen'],
      [{ type: 'ai', content: [{ type: 'codeExecutionResult', codeExecutionResult: { output: TEXT } }] }, 'unseen'],
      [{ type: 'ai', content: [{ type: 'text', text: 'x', citations: [{ cited_text: TEXT }] }] }, 'unseen'],
      [{ type: 'ai', content: '', additional_kwargs: { tool_outputs: [{ type: 'web_search_call' }] } }, 'unseen'],
      [{ role: 'assistant', content: [{ type: 'web_search_call' }] }, 'unseen'],
      [{ type: 'tool', name: 'f', tool_call_id: 'c', content: TEXT }, 'read'],
      [{ type: 'tool', data: { name: 'f', tool_call_id: 'c', content: TEXT } }, 'read'],
      [{ role: 'tool', tool_call_id: 'c', content: TEXT }, 'read'],
      [['tool', TEXT], 'read'],
      [{ type: 'tool', name: 'f', tool_call_id: 'c', content: [...text('text'), { type: 'image' }] }, 'unseen'],
      [{ type: 'function', name: 'f', content: TEXT }, 'read'],
      [{ type: 'generic', role: 'critic', content: TEXT }, 'unseen'],
      [{ type: 'generic', role: 'user', content: TEXT }, 'own'],
      [{ lc: 1, type: 'constructor', id: ['ToolMessage'], kwargs: { content: TEXT } }, 'unseen'],
    ],
  },
  'the AI SDK': {
    hear: aiSdk.hear,
    rows: [
      [{ role: 'user', content: TEXT }, 'own'],
      [{ role: 'user', content: [{ type: 'file', mediaType: 'application/pdf', data: new Uint8Array(9) }] }, 'unseen'],
      [{ id: 'm', role: 'user', parts: text('text') }, 'unseen'],
      [{ id: 'm', role: 'assistant', parts: [{ type: 'tool-f', state: 'output-available', output: TEXT }] }, 'unseen'],
      [{ role: 'system', content: TEXT }, 'own'],
      [
        { role: 'assistant', content: [...text('text'), ...text('reasoning'), { type: 'tool-call', input: {} }] },
        'own',
      ],
      [{ role: 'assistant', content: [{ type: 'custom', kind: 'x.y', text: TEXT }] }, 'unseen'],
      [{ role: 'tool', content: [{ type: 'tool-approval-response', reason: TEXT }] }, 'own'],
      ...(['text', 'json', 'error-text', 'error-json'] as const).map(
        (type): Row => [{ role: 'tool', content: [{ type: 'tool-result', output: { type, value: TEXT } }] }, 'read'],
      ),
      [{ role: 'tool', content: [{ type: 'tool-result', output: { type: 'execution-denied', reason: TEXT } }] }, 'own'],
      [{ role: 'tool', content: [{ type: 'tool-result', output: { type: 'content', value: text('text') } }] }, 'read'],
      [
        { role: 'tool', content: [{ type: 'tool-result', output: { type: 'content', value: [{ type: 'media' }] } }] },
        'unseen',
      ],
      [{ role: 'assistant', content: [{ type: 'tool-result', output: { type: 'json', value: [TEXT] } }] }, 'read'],
      [{ role: 'data', content: TEXT }, 'unseen'],
    ],
  },
}

for (const [name, { hear, rows }] of Object.entries(ADAPTERS)) {
  for (const [message, effect] of rows) {
    test(`${name}: ${effect} is ${JSON.stringify(message)}`, () => {
      const session = gate.session({ userRequest: '' })
      hear(session, [message])
      const { tainted, provenance } = session.request('pay', { found: 'US13', other: 'Rent' }).context
      assert.equal(tainted, effect !== 'own')
      if (tainted) assert.deepEqual(provenance.found, ['third_party'])
      assert.deepEqual(provenance.other, [effect === 'unseen' ? 'third_party' : 'model'])
    })
  }
}

test('answers have the names of their calls, by which they are trusted', () => {
  const trusted = ['own', 'mcp__s__n', 'shell_call_output']
  const isTainted = (...messages: object[]): boolean => {
    const session = gate.session({ userRequest: '', trusted })
    tools.hear(session, messages)
    return session.request('pay', {}).context.tainted
  }
  const output = { call_id: 'c', output: TEXT }
  const called = (name: string) => ({ type: 'custom_tool_call', call_id: 'c', name, input: '' })
  assert.equal(isTainted(called('own'), { ...output, type: 'custom_tool_call_output' }), false)
  assert.equal(isTainted(called('other'), { ...output, type: 'custom_tool_call_output' }), true)
  assert.equal(isTainted({ ...output, type: 'shell_call_output' }), false)
  assert.equal(isTainted({ ...output, type: 'mcp_call', server_label: 's', name: 'n' }), false)
  assert.equal(isTainted({ ...output, type: 'mcp_call', server_label: 'other', name: 'n' }), true)
  const chat = { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'own', input: '' } }] }
  assert.equal(isTainted(chat, { role: 'tool', tool_call_id: 'c', content: TEXT }), false)
})
