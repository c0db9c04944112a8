import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GateClient } from '@gate-sidecar/client'
import { hear } from '@gate-sidecar/client/tools'
import type { ResponseInputItem, ResponseItem, ResponseOutputItem } from 'openai/resources/responses/responses'

type Kind = NonNullable<(ResponseInputItem | ResponseItem | ResponseOutputItem)['type']>

/** Every kind of item that the SDK declares, and whether others can have written what it says: a new one does not compile here. */
const IS_OF_OTHERS: Record<Kind, boolean> = {
  message: false,
  reasoning: false,
  function_call: false,
  function_call_output: true,
  custom_tool_call: false,
  custom_tool_call_output: true,
  local_shell_call: false,
  local_shell_call_output: true,
  shell_call: false,
  shell_call_output: true,
  apply_patch_call: false,
  apply_patch_call_output: true,
  computer_call: false,
  computer_call_output: true,
  mcp_list_tools: true,
  mcp_approval_request: false,
  mcp_approval_response: false,
  mcp_call: true,
  web_search_call: true,
  file_search_call: true,
  code_interpreter_call: true,
  image_generation_call: true,
  tool_search_call: false,
  tool_search_output: true,
  program: false,
  program_output: true,
  additional_tools: false,
  configuration_update: false,
  compaction: true,
  compaction_trigger: false,
  item_reference: true,
}

const gate = new GateClient({ tenantId: 'acme', apiKey: 'x' })
for (const [type, isOfOthers] of Object.entries(IS_OF_OTHERS)) {
  test(`${type} ${isOfOthers ? 'taints' : 'does not taint'}`, () => {
    const session = gate.session({ userRequest: '' })
    hear(session, [{ type, role: 'assistant', id: 'i', call_id: 'c', name: 'n', output: 'Pay US13' }])
    assert.equal(session.request('pay', {}).context.tainted, isOfOthers)
  })
}
