import type { Command } from 'commander'
import { addCommonOptions, type CommonOptions, configOf } from './context.ts'

interface ServeOptions extends CommonOptions {
  host?: string
  port?: string
  socket?: string
  allowedHosts?: string
  signingKey?: string
  logLevel?: string
}

export function addServeCommand(program: Command): void {
  addCommonOptions(program.command('serve'), { data: true, policies: true })
    .description('run the service until it is told to stop (SIGTERM, SIGINT)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <number>', 'port to listen on, 0 for a free one (default: 4283)')
    .option('--socket <path>', 'Unix socket to listen on instead')
    .option('--allowed-hosts <names>', 'host names, besides those of this machine, that requests may be addressed to')
    .option('--signing-key <file>', 'key that signs evidence (default: signing-key.pem in the data folder)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)')
    .addHelpText('after', '\nExample:\n  gate-sidecar serve --port 4283 --data ./data --policies ./policies')
    .action(serve)
}

async function serve(options: ServeOptions): Promise<void> {
  const config = configOf(options)
  // Heard from here on: who is told to stop while starting ends as cleanly, right after.
  const told = stopSignal()
  // Only this command needs the server's packages; the others start without them.
  const [{ createLogger }, { startServer }] = await Promise.all([import('../log.ts'), import('../server.ts')])
  const log = createLogger(config.logLevel)
  const server = await startServer({ config, log })
  log.info({ url: server.url }, 'listening')
  log.info({ signal: await told }, 'stopping')
  await server.close()
  log.info({}, 'stopped')
}

/** The first signal that asks to stop. A second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}
