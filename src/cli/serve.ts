import type { Command } from 'commander'
import { addCommonOptions, type CommonOptions, configOf } from './context.ts'
import { welcome } from './demo.ts'

interface ServeOptions extends CommonOptions {
  host?: string
  port?: string
  socket?: string
  allowedHosts?: string
  signingKey?: string
  logLevel?: string
  demo?: boolean
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
    .option(
      '--demo',
      'show how it works: on a folder without keys, make a demo tenant and print its keys to the terminal',
    )
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
  try {
    // Never into the log, which is kept in files: what it says is for a person, and may hold keys.
    if (options.demo) process.stderr.write(await welcome(server, config, process.stderr.isTTY === true))
    log.info({ signal: await told }, 'stopping')
  } finally {
    await server.close()
  }
  log.info({}, 'stopped')
}

/** The first signal that asks to stop. A second one ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}
