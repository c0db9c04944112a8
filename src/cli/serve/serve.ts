import { parseDuration } from '../../base/time.ts'
import { threadedPolicyWorker } from '../../files/policy-worker.ts'
import { type Config, SETTING_NAMES } from '../../service/config.ts'
import type { Logger } from '../../service/log.ts'
import type { RunningServer } from '../../service/server.ts'
import type { SettingName } from '../../service/settings.ts'
import { limitHeap, optimizeSoon } from '../../service/v8.ts'
import { addCommonOptions, addSettingOption, type GateCommand, STORE_SETTINGS } from '../command.ts'
import { type CommonOptions, configOf, EXIT } from '../context.ts'
import { hearToTheEnd, reloadSignal, stopSignal } from './signals.ts'
import { terminalLog } from './terminal-log.ts'

/** Clients under load send again within it, even on a busy machine; others lose nothing. */
const LINGER_MS = 1000

export function addServeCommand(program: GateCommand): void {
  addServeOptions(program.command('serve'))
    .description('run the service until SIGTERM or SIGINT; SIGHUP reloads the policies')
    .option(
      '--demo',
      'run a demo in the folder gate-sidecar-demo: copy its policies there, create a tenant, print its keys on the terminal',
    )
    .example('serve --demo', 'serve --port 4283 --data ./data --policies ./policies')
    .action(serve)
}

/** A flag for every setting. */
export function addServeOptions(command: GateCommand): GateCommand {
  const common: readonly SettingName[] = [...STORE_SETTINGS, 'policies']
  for (const name of SETTING_NAMES) if (!common.includes(name)) addSettingOption(command, name)
  return addCommonOptions(command, 'data', 'policies')
}

async function serve(options: CommonOptions & { demo?: boolean }): Promise<void> {
  const onReload = reloadSignal()
  const config = options.demo ? (await import('./demo-folder.ts')).demoConfig(options) : configOf(options)
  // Listens before the start, so that a stop during it ends the service cleanly right after.
  // A service outlives its terminal. A demo would hold the port, unseen.
  const stop = options.demo && process.stderr.isTTY ? stopSignal('SIGHUP') : stopSignal()
  limitHeap()
  // Its thread loads while this one loads the service.
  const policyWorker = threadedPolicyWorker()
  // Only this command needs the server's packages; the others start without them.
  const [{ createLogger, standardOutput }, { startServer }] = await Promise.all([
    import('../../service/log.ts'),
    import('../../service/server.ts'),
  ])
  const terminal = process.stdout.isTTY ? terminalLog(standardOutput(), options.demo === true) : undefined
  const log = createLogger(config.logLevel, terminal)
  const server = await startServer({ config, log, threads: { policyWorker } }).catch((error) => {
    terminal?.release()
    throw error
  })
  optimizeSoon()
  log.info({ url: server.url }, 'listening')
  onReload(() => void reload(server, log))
  let signal: NodeJS.Signals | undefined
  try {
    // The banner is for people and may hold keys, so it never goes to the log, which is kept in files.
    if (options.demo) {
      const { welcome } = await import('./demo.ts')
      // The terminal may be closed by now.
      process.stderr.on('error', () => undefined)
      process.stderr.write(await welcome(server, config, process.stderr.isTTY === true))
    }
    terminal?.release()
    signal = await stop
    log.info({ signal }, 'stopping')
  } finally {
    onReload(() => undefined)
    const lost = await server.close({ unreadyMs: unreadyMs(config, signal), lingerMs: LINGER_MS })
    for (const { id, level, scope, reason } of lost)
      log.error({ stop: id, level, scope, reason }, 'this stop could not be saved, and ends with the service')
    if (lost.length > 0) options.io.exitCode = EXIT.failed
  }
  log.tellLeftOut()
  log.info({}, 'stopped')
  // An exit restores the settings of the terminal, and Node.js 20 hangs if that is closed.
  if (signal === 'SIGHUP') process.kill(process.pid, 'SIGKILL')
  hearToTheEnd()
}

/** No load balancer waits for an operator who stops the service at a terminal. */
function unreadyMs({ stopDelay }: Config, signal: NodeJS.Signals | undefined): number {
  return signal === 'SIGTERM' ? (parseDuration(stopDelay) ?? 0) : 0
}

/** Reloads the policies and logs the end result; the service logs each tenant's. */
async function reload(server: RunningServer, log: Logger): Promise<void> {
  try {
    log.info({ signal: 'SIGHUP', ...(await server.reload()) }, 'policies reloaded')
  } catch (error) {
    log.error({ signal: 'SIGHUP', cause: String(error) }, 'policies could not be reloaded')
  }
}
