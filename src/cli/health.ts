import { request } from 'node:http'
import { parseJson } from '../base/json.ts'
import { ROUTES } from '../keys/routes.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { type CommonOptions, configOf, EXIT } from './context.ts'
import { print } from './output.ts'

const TIMEOUT_MS = 3000

export function addHealthCommand(program: GateCommand): void {
  addCommonOptions(program.command('health'))
    .description('check whether a running server is ready; exit 1 if it is not')
    .option(
      '--live',
      'check only whether the process answers; use this as the liveness probe: a restart loses what is only in memory',
    )
    .option('--host <address>', 'address of the server (default: 127.0.0.1)')
    .option('--port <number>', 'port of the server (default: 4283)')
    .option('--socket <path>', 'Unix socket of the server')
    .example('health --port 4283')
    .action(async ({ live = false, ...options }: CommonOptions & { live?: boolean }) => {
      const word = live ? 'live' : 'ready'
      const { isGood, message } = await probe(configOf(options), live ? ROUTES.healthz.path : ROUTES.readyz.path)
      print(options, { [word]: isGood, message: message ?? word }, () => [isGood ? word : `not ${word}: ${message}`])
      if (!isGood) options.io.exitCode = EXIT.negative
    })
}

/** The reason in an envelope, if it has one. Any other text comes from another service and is shown as it is. */
function messageOf(text: string): string | undefined {
  try {
    const { success, message } = parseJson(text, { maxDepth: 8 }) as { success?: unknown; message?: unknown }
    return success === true ? undefined : String(message)
  } catch {
    return `the answer is not from gate-sidecar: ${JSON.stringify(text.slice(0, 100))}`
  }
}

/** Requests a probe. No answer is a bad one. */
function probe({ host, port, socket }: { host: string; port: number; socket: string | null }, path: string) {
  const where = socket === null ? { host, port } : { socketPath: socket }
  const headers = { host: 'localhost' }
  return new Promise<{ isGood: boolean; message: string | undefined }>((resolve) => {
    const outgoing = request({ ...where, path, headers, timeout: TIMEOUT_MS }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ isGood: response.statusCode === 200, message: messageOf(text) }))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    outgoing.on('error', (error) => resolve({ isGood: false, message: error.message }))
    outgoing.end()
  })
}
