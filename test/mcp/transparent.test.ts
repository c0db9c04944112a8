import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { plainFetch } from '../declared.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { connected, firstEra, secondEra } from './sessions.ts'
import {
  direct,
  EVERYTHING,
  everythingOverHttp,
  MCP_POLICY,
  modern,
  modernOverHttp,
  relayed,
  relayedOverHttp,
} from './support.ts'

/* Official clients and servers see the same with and without the relay. */

const gate = await startGate({ after }, { policies: { 'acme/main.yaml': MCP_POLICY } })
const agent = await gate.key({ roles: ['agent'] })
const ran = join(temporaryFolder(), 'ran')
const quiet = { stderr: 'ignore' } as const
const limit = { timeout: 120_000 }

fullTest('over stdio, a client of the first era sees no difference', limit, async () => {
  const session = (command: ReturnType<typeof direct>) => firstEra(new StdioClientTransport({ ...command, ...quiet }))
  const [plain, gated] = [await session(direct(EVERYTHING)), await session(relayed(gate.server, agent, EVERYTHING))]
  assert.equal(Object.keys(plain).length, 22)
  assert.deepEqual(gated, plain)
})

test('over stdio, a client of the second era sees no difference, and none in what it negotiates', limit, async () => {
  const session = (command: ReturnType<typeof direct>) => secondEra(new ModernStdio({ ...command, ...quiet }))
  const [plain, gated] = [await session(direct(modern(ran))), await session(relayed(gate.server, agent, modern(ran)))]
  assert.match(JSON.stringify(plain), /"2026-07-28"/)
  assert.deepEqual(gated, plain)
})

fullTest('over HTTP, a client of the first era sees no difference', limit, async () => {
  const url = await everythingOverHttp()
  const relay = await relayedOverHttp(gate.server, agent, url)
  const session = (address: string) =>
    firstEra(new StreamableHTTPClientTransport(new URL(address), { fetch: plainFetch }) as never)
  const [plain, gated] = [await session(url), await session(relay.url)]
  assert.deepEqual(gated, plain)
  await relay.stop()
})

fullTest('over HTTP, a client of the second era sees no difference', limit, async () => {
  const url = await modernOverHttp(ran)
  const relay = await relayedOverHttp(gate.server, agent, url)
  const session = (address: string) => secondEra(new ModernHttp(new URL(address), { fetch: plainFetch }))
  const [plain, gated] = [await session(url), await session(relay.url)]
  assert.match(JSON.stringify(plain), /"2026-07-28"/)
  assert.deepEqual(gated, plain)
  await relay.stop()
})

test('the server does not get the key of the gate, and gets all else of the environment', async () => {
  const client = await connected(new StdioClientTransport({ ...relayed(gate.server, agent, EVERYTHING), ...quiet }))
  const { content } = await client.callTool({ name: 'get-env', arguments: {} })
  await client.close()
  const text = JSON.stringify(content)
  assert.doesNotMatch(text, /GATE_SIDECAR|sk_live/)
  assert.match(text, /VISIBLE/)
})
