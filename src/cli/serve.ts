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
  // Only this command needs the server's packages; the others start without them.
  const [{ createLogger }, { startServer }] = await Promise.all([import('../log.ts'), import('../server.ts')])
  const log = createLogger(config.logLevel)
  const server = await startServer({ config, log })
  log.info({ url: server.url }, 'listening')
  const stop = (signal: string): void => {
    log.info({ signal }, 'stopping')
    server.close().then(
      () => log.info({}, 'stopped'),
      (error: unknown) => {
        log.error({ cause: String(error) }, 'could not stop cleanly')
        process.exitCode = 3
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}
