import { request } from 'node:http'
import { parseJson } from '../base/json.ts'
import { ROUTES } from '../keys/routes.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { type CommonOptions, configOf, EXIT } from './context.ts'
import { print } from './output.ts'

const TIMEOUT_MS = 3000

export function addHealthCommand(program: GateCommand): void {
  addCommonOptions(program.command('health'))
    .description('ask a running server whether it is ready; exit 1 when it is not')
    .option('--host <address>', 'address it listens on (default: 127.0.0.1)')
    .option('--port <number>', 'port it listens on (default: 4283)')
    .option('--socket <path>', 'Unix socket it listens on')
    .example('health --port 4283')
    .action(async (options: CommonOptions) => {
      const { ready, message } = await probe(configOf(options))
      print(options, { ready, message }, () => [ready ? 'ready' : `not ready: ${message}`])
      if (!ready) options.io.exitCode = EXIT.negative
    })
}

/** The reason in an envelope. Any other text comes from another service and is shown as it is. */
function messageOf(text: string): string {
  try {
    const { success, message } = parseJson(text, { maxDepth: 8 }) as { success?: unknown; message?: unknown }
    return success === true ? 'ready' : String(message)
  } catch {
    return `the answer is not that of gate-sidecar: ${JSON.stringify(text.slice(0, 100))}`
  }
}

/** Requests GET /readyz. No answer means not ready. */
function probe({ host, port, socket }: { host: string; port: number; socket: string | null }) {
  const where = socket === null ? { host, port } : { socketPath: socket }
  const headers = { host: 'localhost' }
  return new Promise<{ ready: boolean; message: string }>((resolve) => {
    const outgoing = request({ ...where, path: ROUTES.readyz.path, headers, timeout: TIMEOUT_MS }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ ready: response.statusCode === 200, message: messageOf(text) }))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    outgoing.on('error', (error) => resolve({ ready: false, message: error.message }))
    outgoing.end()
  })
}
