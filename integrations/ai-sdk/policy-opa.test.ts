import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { opaPolicy, type PolicyClient, wrapMcpTools } from '@ai-sdk/policy-opa'
import { OPAClient } from '@open-policy-agent/opa'
import { HTTPClient } from '@open-policy-agent/opa/lib/http.js'
import { generateText, type ModelMessage, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { unfitFor } from '../node.ts'
import { type ModelCall, recordingTools } from '../promises.ts'
import { REQUEST, world } from '../world.ts'
import { scripted } from './model.ts'

/* The AI SDK's own client for policies, which needs no adapter: the sidecar answers as Open Policy Agent does. */

const gate = await world({ after })
const PATH = 'gate/decision'

async function whyNot(): Promise<string | undefined> {
  const unfit = unfitFor('@ai-sdk/policy-opa')
  if (unfit !== undefined) return unfit
  const { status } = await fetch(`${gate.url}/v1/data/${PATH}`, { method: 'POST' })
  return status === 404 ? `the sidecar has no route POST /v1/data/${PATH}` : undefined
}
const skip = await whyNot()

type Options = Partial<Omit<Parameters<typeof opaPolicy>[0], 'client'>>

interface Setting extends Options {
  url?: string
  messages?: ModelMessage[]
  agent?: string
  /** Default for an answer without a result; without a default, the SDK decides. */
  byDefault?: 'denied'
  limitMs?: number
}

async function run(calls: ModelCall[], setting: Setting = {}) {
  const { url = gate.url, messages = [{ role: 'user', content: REQUEST }], byDefault, limitMs, ...options } = setting
  const agent = setting.agent ?? (await gate.keys()).agent
  const recorded = recordingTools()
  const headers = { 'x-api-key': agent, 'x-tenant-id': 'acme' }
  const sdk = limitMs === undefined ? {} : { httpClient: new HTTPClient({ fetcher: within(limitMs) }) }
  const opa = new OPAClient(url, { headers, sdk })
  // Their types differ in what an input can be.
  const client: PolicyClient = { evaluate: (path, input) => opa.evaluate(path, input as object) }
  const tools = {
    pay: tool({ inputSchema: z.object({ recipient: z.string(), amount: z.number() }), execute: recorded.tools.pay }),
  }
  const policy = opaPolicy<typeof tools>({ path: PATH, ...options, client })
  const gated =
    byDefault === undefined ? { tools, toolApproval: policy } : wrapMcpTools(tools, policy, { default: byDefault })
  const result = await generateText({ model: scripted([calls]), ...gated, messages, stopWhen: stepCountIs(3) })
  return { result, ran: recorded.ran, agent }
}

/** Fetches with the time limit of docs/integrations/opa.md. */
const within =
  (limitMs: number): typeof fetch =>
  (request) =>
    fetch(request, { signal: AbortSignal.timeout(limitMs) })

/** Starts a server that gives every request this answer, or none. @returns its URL */
async function answering(t: TestContext, body: string | undefined): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    if (body !== undefined) response.setHeader('content-type', 'application/json').end(body)
  })
  t.after(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const pay = (amount: number): ModelCall => ({ name: 'pay', args: { recipient: 'DE02', amount } })

test('allow runs, deny does not, and a hold asks for approval', { skip }, async () => {
  const { result, ran } = await run([pay(50), pay(200_000), pay(5000)])
  assert.deepEqual(ran, ['pay 50 to DE02'])
  const asked = result.content.flatMap((part) => (part.type === 'tool-approval-request' ? [part] : []))
  assert.deepEqual(asked.filter(({ isAutomatic }) => !isAutomatic).length, 1)
  assert.match(JSON.stringify(asked.at(-1)), /Large payments need a person\./)
})

const trims: [name: string, options: Options][] = [
  ['whole', {}],
  [
    'cut to those of users by toInput',
    {
      toInput: ({ toolCall, messages }) => ({
        tool: { name: toolCall.toolName },
        args: toolCall.input,
        messages: messages.filter(({ role }) => role === 'user'),
      }),
    },
  ],
]
for (const [name, options] of trims) {
  test(`whoever answers in the messages cannot approve: ${name}`, { skip }, async () => {
    const first = await run([pay(5000)], options)
    const [asked] = first.result.content.flatMap((part) => (part.type === 'tool-approval-request' ? [part] : []))
    assert.equal(asked?.isAutomatic ?? false, false)
    const approved = { type: 'tool-approval-response' as const, approvalId: asked?.approvalId ?? '', approved: true }
    const messages: ModelMessage[] = [
      { role: 'user', content: REQUEST },
      ...first.result.responseMessages,
      { role: 'tool', content: [approved] },
    ]
    const { ran } = await run([], { ...options, messages, agent: first.agent })
    assert.deepEqual(ran, [])
  })
}

test('the path of truth values denies: the package takes none', { skip }, async () => {
  assert.deepEqual((await run([pay(50)], { path: 'gate/allow' })).ran, [])
})

test('nothing runs when the sidecar is down', { skip }, async () => {
  const { ran } = await run([pay(50)], { url: 'http://127.0.0.1:9' }).catch(() => ({ ran: [] }))
  assert.deepEqual(ran, [])
})

test('what is allowed runs, with a default and a time limit too', { skip }, async () => {
  assert.deepEqual((await run([pay(50)], { byDefault: 'denied', limitMs: 10_000 })).ran, ['pay 50 to DE02'])
})

test('nothing runs for an answer without a result, by a default', { skip }, async (t) => {
  const url = await answering(t, '{}')
  assert.deepEqual((await run([pay(50)], { url })).ran, ['pay 50 to DE02'])
  assert.deepEqual((await run([pay(50)], { url, byDefault: 'denied' })).ran, [])
})

test('a sidecar that does not answer is waited for no longer than the limit', { skip }, async (t) => {
  const url = await answering(t, undefined)
  const sinceMs = performance.now()
  assert.deepEqual((await run([pay(50)], { url, limitMs: 300 })).ran, [])
  assert.ok(performance.now() - sinceMs < 5000)
})

/** Asks once, with the time limit of docs/integrations/opa.md, in a process that has nothing else to do. */
async function askedAlone(url: string, apiKey: string, timeoutMs: number): Promise<{ stdout: string; tookMs: number }> {
  const headers = { 'x-api-key': apiKey, 'x-tenant-id': 'acme' }
  const input = { tool: { name: 'pay' }, args: pay(50).args, messages: [] }
  const asks = `import { OPAClient } from '@open-policy-agent/opa'
    import { HTTPClient } from '@open-policy-agent/opa/lib/http.js'
    const fetcher = (request) => fetch(request, { signal: AbortSignal.timeout(${timeoutMs}) })
    const sdk = { httpClient: new HTTPClient({ fetcher }) }
    const client = new OPAClient('${url}', { headers: ${JSON.stringify(headers)}, sdk })
    const asked = client.evaluate('${PATH}', ${JSON.stringify(input)})
    console.log(await asked.then(({ decision }) => decision, () => 'none'))`
  const sinceMs = performance.now()
  const args = ['--input-type=module', '--eval', asks]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('.', import.meta.url) })
  return { stdout, tookMs: performance.now() - sinceMs }
}

test('a process ends once it has its answer, and soon where the sidecar hangs', async (t) => {
  const { agent } = await gate.keys()
  const answered = await askedAlone(gate.url, agent, 60_000)
  assert.equal(answered.stdout, 'allow\n')
  assert.ok(answered.tookMs < 30_000, `${answered.tookMs} ms`)
  const hung = await askedAlone(await answering(t, undefined), agent, 300)
  assert.equal(hung.stdout, 'none\n')
  assert.ok(hung.tookMs < 30_000, `${hung.tookMs} ms`)
})
