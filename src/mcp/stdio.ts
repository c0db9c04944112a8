import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { CALLER_VARIABLES } from '../base/variables.ts'
import { type Channels, Exchange, type ExchangeListener } from './exchange.ts'
import type { Gatekeeper } from './gatekeeper.ts'
import { linesOf, writeText } from './lines.ts'
import { readClientMessage, TOOL_CALL } from './message.ts'
import type { ToolBook } from './tool-book.ts'

/** Limit of a client's message, well above real ones. */
const MAX_CLIENT_BYTES = 16 * 1024 * 1024
/** Limit of a server's message; results can be images. */
const MAX_SERVER_BYTES = 64 * 1024 * 1024
/** Time that a server has to end after its input has ended. */
const GRACE_MS = 2000

export interface StdioOptions {
  /** Command of the server, with its arguments. */
  command: readonly [string, ...string[]]
  gatekeeper: Gatekeeper
  book: ToolBook
  listener: ExchangeListener & {
    /** Receives the reason when one side sends something unreadable. */
    onBroken(what: string): void
  }
  input: Readable
  output: Writable
  /** Aborting it ends the server. */
  signal: AbortSignal
}

/**
 * Runs an MCP server and relays between it and the client on these streams (MCP, stdio transport). The server's
 * environment lacks the key of the gate.
 *
 * @returns the server's exit code, or 1 when a signal or the relay ended it
 */
export async function relayStdio(options: StdioOptions): Promise<number> {
  const { listener, input, output } = options
  const [file, ...args] = options.command
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !CALLER_VARIABLES.includes(name)))
  const server = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
  await once(server, 'spawn')
  // The server's exit reports an end during a write.
  server.stdin.on('error', () => undefined)
  const exchange = new Exchange(options)
  const channels: Channels = {
    toServer: (message) => writeText(server.stdin, `${JSON.stringify(message)}\n`),
    toClient: (message) => writeText(output, `${JSON.stringify(message)}\n`),
  }
  const ended = once(server, 'close')
  const end = (): void => {
    void exchange.close()
    server.stdin.end()
    setTimeout(() => server.kill('SIGTERM'), GRACE_MS).unref()
    setTimeout(() => server.kill('SIGKILL'), 2 * GRACE_MS).unref()
  }
  options.signal.addEventListener('abort', end, { once: true })
  let isOver = false
  const broken = (error: unknown): void => {
    if (isOver) return
    listener.onBroken(error instanceof Error ? error.message : String(error))
    end()
  }
  void fromClient(input, exchange, channels, broken).then(end, broken)
  await fromServer(server.stdout, output, exchange).catch(broken)
  const [code] = await ended
  isOver = true
  // An open input would keep the process alive.
  input.destroy()
  await exchange.close()
  return typeof code === 'number' ? code : 1
}

/** Passes on other messages while a tool call is held. */
async function fromClient(
  input: Readable,
  exchange: Exchange,
  channels: Channels,
  broken: (error: unknown) => void,
): Promise<void> {
  for await (const line of linesOf(input, MAX_CLIENT_BYTES)) {
    const read = readClientMessage(line)
    const passed = exchange.fromClient(read, channels)
    if (read.kind === 'request' && read.method === TOOL_CALL) void passed.catch(broken)
    else await passed
  }
}

async function fromServer(stdout: Readable, output: Writable, exchange: Exchange): Promise<void> {
  for await (const line of linesOf(stdout, MAX_SERVER_BYTES)) {
    const message = exchange.fromServer(line.toString())
    if (message !== undefined) await writeText(output, `${message}\n`)
  }
}
