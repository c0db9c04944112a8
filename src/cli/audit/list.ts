import { join } from 'node:path'
import { Option } from 'commander'
import { auditChain } from '../../actions/audit/audit.ts'
import type { Deps } from '../../actions/deps.ts'
import { chainOf, laneNumber } from '../../audit/chain.ts'
import type { Environment } from '../../base/environment.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS, parseDate, parseRfc3339 } from '../../base/time.ts'
import { laneFolder } from '../../evidence/export.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, environmentOption, limitOption, UsageError } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { print } from '../output.ts'
import { entryTable } from './entry-lines.ts'

export interface ChainOptions extends CommonOptions {
  chain?: string
  tenant?: string
  environment: Environment
}

interface ListOptions extends ChainOptions {
  type?: string
  from?: string
  to?: string
  limit: number
  order: 'asc' | 'desc'
}

export function addAuditListCommand(audit: GateCommand): void {
  addChainOptions(audit.command('list'))
    .description('list the entries of a chain, newest first')
    .option('--type <type>', 'only this event type, such as approval.approved')
    .option('--from <time>', 'first day (YYYY-MM-DD, UTC) or time (RFC 3339)')
    .option('--to <time>', 'last day, or the time before which entries are listed')
    .addOption(limitOption(50, 500))
    .addOption(
      new Option('--order <order>', 'asc: oldest first, desc: newest first').choices(['asc', 'desc']).default('desc'),
    )
    .example('audit list --tenant acme --type gate.decision --from 2026-01-01 --to 2026-01-31')
    .action(list)
}

export function addChainOptions(command: GateCommand): GateCommand {
  return addCommonOptions(command, 'data')
    .option('--tenant <id>', 'the tenant')
    .addOption(environmentOption())
    .option('--chain <name>', 'name of the chain, instead of a tenant: acme/live, or _system')
}

/** @throws UsageError when none or two are named, CannotRun when the chain does not exist */
export async function chainNamed(deps: Deps, { chain, tenant, environment }: ChainOptions): Promise<string> {
  if (chain !== undefined && tenant === undefined) {
    await assertChain(deps, chain)
    return chain
  }
  if (chain !== undefined || tenant === undefined) throw new UsageError('Give either --tenant or --chain.')
  assertTenant(deps, tenant)
  return chainOf(tenant, environment)
}

/** The chains of a trail, its own first. */
export async function chainsIn({ store }: Deps, trail: string): Promise<string[]> {
  return [trail, ...(await store.lanes(trail)).filter((lane) => lane !== trail)]
}

/** Folder for a chain of a trail: a lane has one inside that of the trail. */
export function folderFor(folder: string, trail: string, chain: string): string {
  return chain === trail ? folder : join(folder, laneFolder(laneNumber(chain)))
}

/** @throws CannotRun naming the existing chains */
export async function assertChain({ store }: Deps, chain: string): Promise<void> {
  const all = await store.chains()
  if (!all.includes(chain)) throw new CannotRun(`There is no chain ${chain}; choose one of ${all.join(', ')}.`)
}

async function list(options: ListOptions): Promise<void> {
  const { type: eventType, order, limit } = options
  const from = timeOf('--from', options.from, 0)
  const to = timeOf('--to', options.to, DAY_MS)
  const { items, page } = await withStore(options, async (deps) => {
    const trail = await chainNamed(deps, options)
    return auditChain(deps, { trail, order, limit, offset: 0, eventType, from, to })
  })
  print(options, items, () => {
    const more = page.total - items.length
    return [...entryTable(items), ...(more > 0 ? [`and ${more} more; see --limit.`] : [])]
  })
}

/** A time in the format of entries. @param dayMs added to a whole day */
export function timeOf(option: string, text: string | undefined, dayMs: number): string | undefined {
  if (text === undefined) return undefined
  const day = parseDate(text)
  const ms = day === undefined ? parseRfc3339(text) : day + dayMs
  if (ms !== undefined) return formatTimestamp(Math.min(ms, LAST_TIME_MS))
  throw new UsageError(
    `${option}: ${text} is neither a day such as 2026-01-31 nor a time such as 2026-01-31T12:00:00Z.`,
  )
}
