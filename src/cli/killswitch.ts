import { Option } from 'commander'
import type { Deps } from '../actions/deps.ts'
import { killSwitchStatus, trigger } from '../actions/killswitch/killswitch.ts'
import { recover } from '../actions/killswitch/recover.ts'
import { RecoverRequest, TriggerRequest } from '../actions/killswitch/request.ts'
import type { Kept, UnwrittenStop } from '../actions/killswitch/unwritten.ts'
import { chainOf } from '../audit/chain.ts'
import type { Environment } from '../base/environment.ts'
import { parserOf } from '../base/schema.ts'
import { LEVELS } from '../killswitch/killswitch.ts'
import type { Config } from '../service/config.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { CannotRun, type CommonOptions, EXIT, environmentOption, given, hostActor, hostOperator } from './context.ts'
import { assertTenant, withStore } from './data-file.ts'
import { print, undisguisedLines } from './output.ts'
import { imposeReserve, reserveOf, unreadableLines } from './stop-reserve.ts'
import { setBySettings } from './tenant-folders.ts'

interface StopOptions extends CommonOptions {
  tenant: string
  environment: Environment
  level?: string
  scope?: string
  reason?: string
  comment?: string
  by?: string
}

const parseTrigger = parserOf(TriggerRequest)
const parseRecover = parserOf(RecoverRequest)

export function addKillSwitchCommands(program: GateCommand): void {
  const group = program.command('killswitch').description('show, trigger and end emergency stops')
  addStopOptions(group.command('status'))
    .description('show the stops that cover a tenant; exit 1 if there is one')
    .example('killswitch status --tenant acme')
    .action(status)
  addStopOptions(group.command('trigger'))
    .description('stop actions; a running server applies the stop at once')
    .addOption(levelOption('L1 an action, L2 a domain, L3 the tenant, L4 everything').makeOptionMandatory())
    .option('--scope <scope>', 'L1: an action or pattern, L2: a domain; everything in the tenant if not given')
    .requiredOption('--reason <text>', 'reason for the stop')
    .option('--by <name>', 'name to record (default: the user of this host)')
    .example('killswitch trigger --tenant acme --level L2 --scope finance --reason "odd transfers"')
    .action(triggerStop)
  addStopOptions(group.command('recover'))
    .description('end the stop of this level and scope, or the strongest one')
    .addOption(levelOption('level of the stop'))
    .option('--scope <scope>', 'scope of the stop')
    .requiredOption('--comment <text>', 'why actions may resume')
    .option('--by <name>', 'name to record (default: the user of this host)')
    .example('killswitch recover --tenant acme --comment "transfers were legitimate"')
    .action(recoverStop)
}

function levelOption(help: string): Option {
  return new Option('--level <level>', help).choices(LEVELS)
}

function addStopOptions(command: GateCommand): GateCommand {
  return addCommonOptions(command, 'data', 'policies')
    .requiredOption('--tenant <id>', 'the tenant')
    .addOption(environmentOption())
}

async function status(options: StopOptions): Promise<void> {
  const chain = chainOf(options.tenant, options.environment)
  const found = await withStore(options, async (deps, config) => {
    assertTenant(deps, options.tenant)
    const unreadableStops = imposeReserve(deps, config)
    return { ...statusOf(deps, chain), unreadableStops }
  })
  print(options, found, () => [...unreadableLines(found.unreadableStops), ...undisguisedLines(statusLines(found))])
  if (found.active) options.io.exitCode = EXIT.negative
}

async function triggerStop(options: StopOptions): Promise<void> {
  const { tenant, environment, level, scope, reason, by } = options
  const request = parseTrigger(given({ level, reason, triggeredBy: by ?? hostActor().id, scope }))
  const found = await withStore(options, async (deps, config) => {
    assertTenant(deps, tenant)
    const set = await setBySettings(deps, config, tenant)
    const policies = { get: () => set }
    const keepUnwritten = (unwritten: UnwrittenStop): Kept => keepInReserve(deps, config, unwritten)
    return trigger({ ...deps, policies, keepUnwritten }, hostOperator(tenant, environment), request)
  })
  print(options, found, () => undisguisedLines([...statusLines(found), ...consequences(found)]))
}

/** Puts the stop where a running service, and the next start, finds it: the command itself cannot keep it in force. */
function keepInReserve({ store }: Deps, config: Config, unwritten: UnwrittenStop): Kept {
  const reserve = reserveOf(store, config)
  const isKept = reserve?.keep(unwritten) ?? false
  reserve?.close()
  if (isKept) return 'in the reserve'
  throw new CannotRun('The stop could not be written and is not in force. Check the disk and try again.')
}

/** The coverage of the stop, so that a mistyped scope is seen at once. */
function consequences(found: Awaited<ReturnType<typeof trigger>>): string[] {
  if (!('covers' in found)) return []
  const { covers, warning } = found
  return [
    ...(covers.length > 0 ? [`It covers: ${covers.join(', ')}`] : []),
    ...(warning !== null ? [`WARNING: ${warning}`] : []),
  ]
}

async function recoverStop(options: StopOptions): Promise<void> {
  const { tenant, environment, level, scope, comment, by } = options
  const request = parseRecover(given({ recoveredBy: by ?? hostActor().id, comment, level, scope }))
  const operator = hostOperator(tenant, environment)
  const { ended, found } = await withStore(options, async (deps, config) => {
    assertTenant(deps, tenant)
    imposeReserve(deps, config)
    const { switches } = killSwitchStatus(deps, operator.chain)
    await recover(deps, operator, request)
    const after = statusOf(deps, operator.chain)
    return { ended: switches.filter(({ id }) => after.switches.every((stop) => stop.id !== id)), found: after }
  })
  print(options, found, () =>
    undisguisedLines([
      ...ended.map((stop) => `Ended: ${stop.level} ${stop.scope}`),
      ...(found.active ? ['Still active:'] : []),
      ...statusLines(found),
    ]),
  )
}

/** The status, with ids of the stops that only the reserve has. */
function statusOf(deps: Deps, chain: string) {
  const found = killSwitchStatus(deps, chain)
  const imposed = deps.store.imposed().map(({ id }) => id)
  return { ...found, unwritten: found.switches.map(({ id }) => id).filter((id) => imposed.includes(id)) }
}

type Shown = ReturnType<typeof killSwitchStatus> & { unwritten?: readonly string[] }

function statusLines({ active, switches, unwritten = [] }: Shown): string[] {
  if (!active) return ['No kill switch is active.']
  return switches.map(({ id, level, scope, triggeredAt, reason }) => {
    const state = unwritten.includes(id) ? ' (kept in the reserve, not in the store yet)' : ''
    return `${level} ${scope} since ${triggeredAt}${state}: ${reason}`
  })
}
