import { Client as ModernClient } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

/* Results that official clients get from a server in a session that uses all its features. */

export async function connected(transport: Transport): Promise<Client> {
  const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } }
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    model: 'fake',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: `heard ${JSON.stringify(params.messages)}` },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' as const }))
  await client.connect(transport)
  return client
}

const refused = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    ({ code, message }) => ({ code, message }),
  )

/** The reference server, by a client of the first era. */
export async function firstEra(transport: Transport): Promise<Record<string, unknown>> {
  const client = await connected(transport)
  const progress: unknown[] = []
  try {
    const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } }
    return {
      server: [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()],
      ping: await client.ping(),
      tools: await client.listTools(),
      prompts: await client.listPrompts(),
      prompt: await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Bern', state: 'BE' } }),
      resources: await client.listResources(),
      templates: await client.listResourceTemplates(),
      level: await client.setLoggingLevel('error'),
      echo: await call('echo', { message: 'Grüezi 🙂 "\\n\u2028' }),
      wrong: await call('echo', { message: 5 }),
      unknown: await call('no-such-tool'),
      structured: await call('get-structured-content', { location: 'New York' }),
      annotated: await call('get-annotated-message', { messageType: 'error', includeImage: true }),
      links: await call('get-resource-links', { count: 3 }),
      roots: await call('get-roots-list'),
      sampling: await call('trigger-sampling-request', { prompt: 'Hello', maxTokens: 10 }),
      elicitation: await call('trigger-elicitation-request'),
      long: await client.callTool(long, undefined, { onprogress: (one) => void progress.push(one) }),
      // The last one comes together with the result, and the client may not listen any more.
      progress: progress.slice(0, 3),
      missing: await refused(client.readResource({ uri: 'demo://no/such' })),
      method: await refused(client.request({ method: 'no/such' } as never, {} as never)),
      parallel: await Promise.all([1, 2, 3, 4, 5].map((n) => call('echo', { message: `${n}` }))),
    }
  } finally {
    await client.close()
  }
}

/** A server of both eras, by a client that prefers the second. */
export async function secondEra(transport: Parameters<ModernClient['connect']>[0]): Promise<Record<string, unknown>> {
  const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  try {
    return {
      era: [client.getServerVersion(), client.getServerCapabilities(), client.getNegotiatedProtocolVersion()],
      tools: await client.listTools(),
      look: await client.callTool({ name: 'look' }),
      fail: await client.callTool({ name: 'fail' }),
      unknown: await refused(client.callTool({ name: 'no-such-tool' })),
    }
  } finally {
    await client.close()
  }
}
