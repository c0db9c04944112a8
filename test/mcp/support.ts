import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BIN } from '../cli/program.ts'
import { freePort } from '../free-port.ts'
import type { Gate } from '../helpers.ts'
import { until } from '../until.ts'

export interface Command {
  command: string
  args: string[]
  env: Record<string, string>
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The reference server that the authors of MCP publish. */
export const EVERYTHING = [
  process.execPath,
  join(
    dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
    'dist/index.js',
  ),
  'stdio',
]
/** Servers of this folder, with the file that they write. */
export const modern = (ran: string): string[] => [process.execPath, here('modern-server.js'), ran]
export const scripted = (heard: string): string[] => [process.execPath, here('scripted-server.js'), heard]

/** The server without a gate. */
export function direct([command = '', ...args]: string[]): Command {
  return { command, args, env: environment() }
}

/** The server behind the relay. */
export function relayed(
  { url }: Gate['server'] | { url: string },
  { secret }: { secret: string },
  server: string[],
  options: string[] = [],
): Command {
  const env = { ...environment(), GATE_SIDECAR_KEY: secret, GATE_SIDECAR_URL: url, GATE_SIDECAR_TENANT: 'acme' }
  return { command: process.execPath, args: [BIN, 'mcp', ...options, '--', ...server], env }
}

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', VISIBLE: 'yes' }
}

/** Starts a program that serves over HTTP, and waits for what it says when it does. */
async function serving(
  command: string[],
  env: Record<string, string>,
  said: RegExp,
): Promise<{ found: string; child: ChildProcess }> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { env: { ...environment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  after(() => child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk
    })
  }
  const found = await until(`${file} ${args} listens, which says ${text}`, () => said.exec(text)?.[1])
  return { found, child }
}

/** The reference server over HTTP: its address. */
export async function everythingOverHttp(): Promise<string> {
  const port = await freePort()
  await serving([...EVERYTHING.slice(0, -1), 'streamableHttp'], { PORT: String(port) }, /listening on port (\d+)/)
  return `http://127.0.0.1:${port}/mcp`
}

/** The server of both eras over HTTP: its address. */
export async function modernOverHttp(ran: string): Promise<string> {
  const { found } = await serving([...modern(ran), 'http'], {}, /^(\d+)\n/)
  return `http://127.0.0.1:${found}/mcp`
}

/** A relay before the server at this address. */
export async function relayedOverHttp(
  gate: { url: string },
  { secret }: { secret: string },
  upstream: string,
  options: string[] = [],
): Promise<{ url: string; stop(): Promise<number | null> }> {
  const env = { GATE_SIDECAR_KEY: secret, GATE_SIDECAR_URL: gate.url, GATE_SIDECAR_TENANT: 'acme' }
  const command = [process.execPath, BIN, 'mcp', '--http', upstream, '--port', '0', ...options]
  const { found, child } = await serving(command, env, /gate-sidecar: (http:\S+) relays /)
  return {
    url: found,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await once(child, 'close')
      return code
    },
  }
}

export function linesIn(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

/** Allows everything but what its rules say, and knows what the relay tells. */
export const MCP_POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
facts:
  context.mcp.destructive: {type: boolean}
  context.mcp.changed: {type: boolean}
  context.tainted: {type: boolean}
  context.provenance.to: {type: list, default: []}
rules:
  - {id: denied, actions: [get-sum, denied], effect: deny, reason: No sums today.}
  - {id: held, actions: [get-tiny-image, held], effect: require_approval, reason: A person looks at images.}
  - {id: destructive, actions: ["*"], effect: require_approval, reason: It destroys., when: {fact: context.mcp.destructive, operator: equal, value: true}}
  - {id: changed, actions: [shifty], effect: deny, reason: It is another tool now., when: {fact: context.mcp.changed, operator: equal, value: true}}
  - {id: steered, actions: ["*"], effect: deny, reason: Others wrote it., when: {fact: context.provenance.to, operator: contains, value: third_party}}
  - {id: careful, actions: [careful], effect: deny, reason: It has read what others wrote., when: {fact: context.tainted, operator: equal, value: true}}
  - {id: others, actions: ["*"], effect: allow, reason: Fine.}
`
