import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSdkMcpServer, type Options, query, type SDKMessage, tool } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { type Provider, serve } from './model.ts'

type Turns = Parameters<typeof serve>[0]

export interface Tools {
  read_file(args: { path: string }): Promise<string>
  pay(args: { recipient: string; amount: number }): Promise<string>
}

/** The two tools as an MCP server within this process. */
export function acme({ read_file, pay }: Tools) {
  const says = async (text: Promise<string>) => ({ content: [{ type: 'text' as const, text: await text }] })
  return createSdkMcpServer({
    name: 'acme',
    version: '1.0.0',
    tools: [
      tool('read_file', 'Reads a file', { path: z.string() }, (args) => says(read_file(args))),
      tool('pay', 'Pays', { recipient: z.string(), amount: z.number() }, (args) => says(pay(args))),
    ],
  })
}

/** Runs Claude Code against a model that follows a script, in a folder of its own, without any network. */
export async function runScripted(
  turns: Turns,
  prompt: string,
  options: Options,
): Promise<{ messages: SDKMessage[]; provider: Provider }> {
  const home = mkdtempSync(join(tmpdir(), 'gate-sidecar-claude-'))
  const provider = await serve(turns)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
  try {
    const messages: SDKMessage[] = []
    const model = 'claude-sonnet-4-5'
    for await (const message of query({ prompt, options: { cwd: home, settingSources: [], model, env, ...options } }))
      messages.push(message)
    return { messages, provider }
  } finally {
    provider.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
