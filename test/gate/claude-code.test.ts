import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { GateError } from '../../src/base/errors.ts'
import { isActionName } from '../../src/base/glob.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts'
import { type AboutToCall, allowOutput, denyOutput, refusalSentence, usualEvent } from '../../src/gate/claude-code.ts'
import { readHookEvent } from '../../src/gate/claude-code-event.ts'

const FOLDER = new URL('../testdata/claude-code/', import.meta.url)
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))

/** Strictly parsed, as hooks come. */
function hook(name: string): JsonObject {
  const payload = parseJson(readFileSync(new URL(name, FOLDER)), { maxDepth: 32 })
  assert.equal(isJsonObject(payload), true)
  return payload as JsonObject
}

function aboutToCall(payload: JsonObject): AboutToCall {
  const event = readHookEvent(payload)
  assert.equal(event.kind, 'about to call')
  return event as AboutToCall
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('each recorded hook before a tool is a request with the arguments of the tool as they are', () => {
  const before = files.filter((name) => !name.startsWith('post-'))
  assert.equal(before.length, 14)
  for (const name of before) {
    const payload = hook(name)
    const { request } = aboutToCall(payload)
    assert.equal(request.action, payload.tool_name, name)
    assert.deepEqual(request.context.args, payload.tool_input, name)
    assert.equal(request.context.session, 'abc123', name)
    assert.equal(request.context.cwd, '/home/user/my-project', name)
  }
})

test('what else a policy can go by: mode, type of the subagent, whose server of MCP', () => {
  const rows: [file: string, context: object][] = [
    ['bash.json', { permissionMode: 'default' }],
    ['exit-plan-mode.json', { permissionMode: 'plan' }],
    ['subagent.json', { permissionMode: 'default', agentType: 'Explore' }],
    ['mcp.json', { permissionMode: 'default', mcpServer: { name: 'memory', source: 'plugin' } }],
    ['write-2025.json', {}],
  ]
  for (const [file, wanted] of rows) {
    const { args: _, session: __, cwd: ___, ...rest } = aboutToCall(hook(file)).request.context
    assert.deepEqual(plain(rest), wanted, file)
  }
})

test('the same call is the same request at each try, whatever else the hook says then', () => {
  const perTry = fc.dictionary(
    fc.constantFrom('tool_use_id', 'prompt_id', 'transcript_path', 'scratchpad_dir', 'agent_id', 'effort', 'newer'),
    fc.string({ minLength: 1 }),
  )
  fc.assert(
    fc.property(fc.constantFrom('bash.json', 'mcp.json', 'subagent.json'), perTry, perTry, (file, first, second) => {
      const ask = (more: object): unknown => aboutToCall({ ...hook(file), ...more }).request
      assert.deepEqual(ask(first), ask(second))
    }),
  )
})

test('another argument, folder, session, mode or server is another request', () => {
  const payload = hook('mcp.json')
  const others: JsonObject[] = [
    { tool_input: { entities: [] } },
    { cwd: '/' },
    { session_id: 'other' },
    { permission_mode: 'bypassPermissions' },
    { agent_type: 'Explore' },
    { mcp_server: { name: 'memory', source: 'project' } },
    { tool_name: 'mcp__memory__delete_entities' },
  ]
  const first = JSON.stringify(aboutToCall(payload).request)
  for (const other of others) assert.notEqual(JSON.stringify(aboutToCall({ ...payload, ...other }).request), first)
})

const BAD: [name: string, change: Record<string, Json | undefined>, said: RegExp][] = [
  ['no event', { hook_event_name: undefined }, /\/hook_event_name is required/],
  ['another event', { hook_event_name: 'UserPromptSubmit' }, /\/hook_event_name must be one of PreToolUse/],
  ['an event that is no text', { hook_event_name: ['PreToolUse'] }, /\/hook_event_name/],
  ['no tool', { tool_name: undefined }, /\/tool_name is required/],
  ['a tool that is no action', { tool_name: 'Bash; rm' }, /\/tool_name must match pattern/],
  ['a tool with a name too long', { tool_name: 'a'.repeat(129) }, /\/tool_name must match pattern/],
  ['no arguments', { tool_input: undefined }, /\/tool_input is required/],
  ['arguments that are a list', { tool_input: [] }, /\/tool_input must be object/],
  ['no session', { session_id: '' }, /\/session_id must NOT have fewer than 1 characters/],
  ['no folder', { cwd: null }, /\/cwd must be string/],
  ['a mode that is no text', { permission_mode: 1 }, /\/permission_mode must be string/],
  ['a server that is a text', { mcp_server: 'memory' }, /\/mcp_server must be object/],
]

test('what is read without the shapes is read the same as with them, and nothing that they refuse', () => {
  for (const file of files.filter((name) => !name.startsWith('post-'))) {
    assert.deepEqual(usualEvent(hook(file)), readHookEvent(hook(file)), file)
  }
  const values = [undefined, null, '', 'a b', 'Bash', 'PreToolUse', 1, [], {}, ['PreToolUse']]
  for (const name of [...Object.keys(hook('mcp.json')), 'tool_use_id', 'agent_type', 'mcp_server']) {
    for (const value of values) {
      const { [name]: _, ...payload } = { ...hook('mcp.json'), agent_type: 'Explore' } as JsonObject
      if (value !== undefined) payload[name] = value
      const usual = usualEvent(payload)
      if (usual !== undefined) assert.deepEqual(usual, readHookEvent(payload), `${name}: ${JSON.stringify(value)}`)
    }
  }
})

for (const [name, change, said] of BAD) {
  test(`refused: ${name}`, () => {
    const payload = { ...hook('mcp.json'), ...change }
    for (const key of Object.keys(payload)) if (payload[key] === undefined) delete payload[key]
    assert.throws(
      () => readHookEvent(payload as JsonObject),
      (error) => error instanceof GateError && error.code === 'invalid_request' && said.test(error.message),
    )
  })
}

test('what is no object is refused', () => {
  for (const payload of [null, 1, 'PreToolUse', [], [hook('bash.json')]])
    assert.throws(() => readHookEvent(payload), GateError)
})

test('a tool is asked for under its own name, or not at all', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (tool_name) => {
      const ask = (): string => aboutToCall({ ...hook('bash.json'), tool_name }).request.action
      if (isActionName(tool_name)) assert.equal(ask(), tool_name)
      else assert.throws(ask, GateError)
    }),
  )
})

test('what became of a call: succeeded, or failed with the first line of why and nothing that the tool printed', () => {
  const call = { session: 'abc123', toolUseId: 'toolu_01ABC123...' }
  assert.deepEqual(readHookEvent(hook('post-tool-use.json')), {
    kind: 'called',
    outcome: { status: 'succeeded', durationMs: 12 },
    call,
  })
  assert.deepEqual(readHookEvent(hook('post-tool-use-failure.json')), {
    kind: 'called',
    outcome: { status: 'failed', durationMs: 4187, error: 'Exit code 1' },
    call,
  })
})

test('what is told of a decision stays on one line, shows what would steer a terminal, and has an end', () => {
  const reason = `No.\n\u001b[31m\u202e${'x'.repeat(5000)}`
  for (const decision of ['deny', 'require_approval']) {
    const told = refusalSentence('Bash', { decision, reason, approvalId: 'apr_1' })
    assert.match(told, /^Bash .*No\. \\u\{1b\}\[31m\\u\{202e\}x+…$/)
    assert.equal(told.length, 2000)
  }
  assert.match(JSON.stringify(denyOutput(reason)), /"permissionDecisionReason":"No\. .{1900}/)
})

test('only grant decides in place of the permissions of Claude Code', () => {
  const reads = { decision: 'allow', reason: 'Reads.', approvalId: null }
  assert.deepEqual(allowOutput('pass', 'Read', reads), {})
  assert.deepEqual(allowOutput('grant', 'Read', reads), {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      permissionDecisionReason: 'Reads.',
    },
  })
})
