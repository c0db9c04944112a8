import { Option } from 'commander'
import { parseDuration } from '../base/time.ts'
import { port as portShape } from '../base/value-shape.ts'
import { visible } from '../base/visible.ts'
import { Exchange, type ExchangeListener } from '../mcp/exchange.ts'
import { gatekeeper } from '../mcp/gatekeeper.ts'
import { relayHttp } from '../mcp/http.ts'
import { addPins, readPins } from '../mcp/pins.ts'
import { relayStdio } from '../mcp/stdio.ts'
import { ToolBook } from '../mcp/tool-book.ts'
import type { GateCommand } from './command.ts'
import { collect, UsageError, valueParser } from './context.ts'
import { addGateOptions, type GateClientOptions, gateClient } from './gate-client.ts'
import { stopSignal } from './serve/signals.ts'

interface McpOptions extends GateClientOptions {
  http?: URL
  port: number
  approvalTimeout: number
  prefix: string
  trusted?: string[]
  pins?: string
  acceptChanges?: boolean
}

const duration = valueParser((text) => (text === '0s' ? 0 : parseDuration(text)), 'A duration such as 50s or 10m')
const httpUrl = valueParser(
  (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined),
  'An http or https URL',
)
const portNumber = valueParser((text) => portShape.read(portShape.fromText(text)), 'A port from 0 to 65535')

export function addMcpCommand(program: GateCommand): void {
  addGateOptions(program.command('mcp'))
    .argument('[command...]', 'command of the MCP server and its arguments, after --')
    .description('relay an MCP server, asking the sidecar before each tool call')
    .option('--http <url>', 'relay the server at this URL instead of running one', httpUrl)
    .option('--port <number>', 'with --http: port to listen on; 0 picks a free one', portNumber, 4284)
    .addOption(
      new Option('--approval-timeout <time>', 'how long a held call waits for people; 0s refuses it at once')
        .argParser(duration)
        .default(50_000, '50s'),
    )
    .option('--prefix <text>', 'prefix of the tool name in the name of the action, such as github.', '')
    .option(
      '--trusted <tool>',
      'tool with results only from the user and their systems; may be given several times',
      collect,
    )
    .option('--pins <file>', 'file for digests of tool definitions; a tool with a changed definition is refused')
    .option('--accept-changes', 'call tools with a changed definition; policies see the change as context.mcp.changed')
    .example(
      'mcp --tenant acme --pins github.json -- npx -y @example/mcp-server-github',
      'mcp --tenant acme --http https://mcp.example/mcp --port 4284',
    )
    .action(run)
}

async function run(command: string[], options: McpOptions): Promise<void> {
  const [file, ...args] = command
  const { http: upstream, port, pins } = options
  if ((file === undefined) === (upstream === undefined))
    throw new UsageError('Give either the command of an MCP server after --, or its URL with --http.')
  const stopping = new AbortController()
  const stopped = stopSignal().then(() => stopping.abort())
  const book = new ToolBook(pins === undefined ? {} : readPins(pins))
  const gatekeeperFor = gatekeepers(options, book)
  const listener: ExchangeListener & { onBroken(what: string): void } = {
    onDrift: ({ tool, before, now }) => tell(`the definition of the tool ${tool} has changed: ${before}, now ${now}`),
    onNewTools: () => {
      if (pins !== undefined) book.agree(addPins(pins, book.pins())).forEach(listener.onDrift)
    },
    onUnreadable: (why) => tell(`a message of the server cannot be read and is dropped: ${why}`),
    onBroken: (what) => tell(`closing the connection: ${what}`),
  }
  if (upstream !== undefined) {
    const shared = gatekeeperFor(false)
    const relay = await relayHttp({
      upstream,
      port,
      book,
      makeExchange: (standing) =>
        new Exchange({
          gatekeeper: standing === 'stateless' ? shared : gatekeeperFor(standing === 'unknown'),
          book,
          listener,
        }),
      onBroken: (what) => tell(`the server: ${what}`),
    })
    tell(`${relay.url} relays ${upstream.origin}${upstream.pathname}`)
    await stopped
    return relay.close()
  }
  process.exitCode = await relayStdio({
    command: [file ?? '', ...args],
    book,
    gatekeeper: gatekeeperFor(false),
    listener,
    input: process.stdin,
    output: process.stdout,
    signal: stopping.signal,
  })
}

/** Creates the gatekeeper of a connection. */
function gatekeepers(options: McpOptions, book: ToolBook) {
  const onUnrecorded = (decisionId: string, error: unknown): void =>
    tell(`the outcome of ${decisionId} could not be recorded: ${error instanceof Error ? error.message : error}`)
  const client = gateClient(options, {})
  const trusted = new Set(options.trusted)
  const { prefix, approvalTimeout } = options
  const refusesDrift = options.acceptChanges !== true
  return (startsTainted: boolean) =>
    gatekeeper({
      client,
      book,
      prefix,
      trusted,
      approvalTimeout,
      refusesDrift,
      startsTainted,
      onObserved: tell,
      onUnrecorded,
    })
}

/** Stdout carries the protocol. */
function tell(text: string): void {
  process.stderr.write(`gate-sidecar: ${visible(text)}\n`)
}
