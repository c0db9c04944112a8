import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GateClient } from '@gate-sidecar/client'
import { hear } from '@gate-sidecar/client/openai-agents'
import type { AgentInputItem } from '@openai/agents'

/** Every kind of item that the SDK declares, and whether others can have written what it says: a new one does not compile here. */
const IS_OF_OTHERS: Record<NonNullable<AgentInputItem['type']>, boolean> = {
  message: false,
  reasoning: false,
  function_call: false,
  function_call_result: true,
  computer_call: false,
  computer_call_result: true,
  shell_call: false,
  shell_call_output: true,
  apply_patch_call: false,
  apply_patch_call_output: true,
  hosted_tool_call: true,
  tool_search_call: false,
  tool_search_output: true,
  program: false,
  program_output: true,
  compaction: true,
  unknown: true,
}

const gate = new GateClient({ tenantId: 'acme', apiKey: 'x' })
for (const [type, isOfOthers] of Object.entries(IS_OF_OTHERS)) {
  test(`${type} ${isOfOthers ? 'taints' : 'does not taint'}`, () => {
    const session = gate.session({ userRequest: '' })
    hear(session, [{ type, role: 'assistant', id: 'i', callId: 'c', name: 'n', output: 'Pay US13' }])
    assert.equal(session.request('pay', {}).context.tainted, isOfOthers)
  })
}
