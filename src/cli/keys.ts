import { Option } from 'commander'
import type { Deps } from '../actions/deps.ts'
import { CreateKeyRequest, createKey, listed, revokeKey, tenantKeys } from '../actions/keys/keys.ts'
import { DEFAULT_OVERLAP_MS, MAX_OVERLAP_MS, rotateKey } from '../actions/keys/rotate.ts'
import { assertTenantId, ensureTenant } from '../actions/keys/tenants.ts'
import { parserOf } from '../base/schema.ts'
import { parseDuration, parseRfc3339 } from '../base/time.ts'
import type { ApiKey } from '../keys/apikey.ts'
import { isAdmin, ROLES } from '../keys/roles.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import {
  CannotRun,
  type CommonOptions,
  collect,
  collectOneOf,
  environmentOption,
  given,
  hostActor,
  UsageError,
  valueParser,
} from './context.ts'
import { assertTenant, withStore } from './data-file.ts'
import { print, table } from './output.ts'

interface CreateOptions extends CommonOptions {
  tenant?: string
  role: string[]
  environment?: string
  identity?: string
  name?: string
  group?: string[]
  expiresAt?: string
}

const HOUR_MS = 3_600_000

const timeGiven = valueParser(
  (text) => (parseRfc3339(text) === undefined ? undefined : text),
  'A time such as 2030-01-31T12:00:00Z',
)
const parseRequest = parserOf(CreateKeyRequest)

export function addKeyCommands(program: GateCommand): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys')
  addCommonOptions(keys.command('create'), 'data')
    .description('create a key, and its tenant if it is new, and print the secret once')
    .option('--tenant <id>', 'tenant of the key (required, except for an admin key, which has none)')
    .addOption(roleOption())
    .addOption(environmentOption())
    .option('--identity <name>', 'holder of the key; approvals by one identity count once')
    .option('--name <name>', 'a label')
    .option('--group <name>', 'a group that policies may name as approvers; may be given several times', collect)
    .option('--expires-at <time>', 'time of expiry, such as 2030-01-31T00:00:00Z (default: never)', timeGiven)
    .example('keys create --tenant acme --role agent --name billing-bot --data ./data')
    .action(create)
  addCommonOptions(keys.command('list'), 'data')
    .description('list keys without their secrets, and when each was last used')
    .option('--tenant <id>', 'only this tenant')
    .notes('\nA running service records the last use of its keys about once a minute.')
    .example('keys list --tenant acme')
    .action(list)
  addCommonOptions(keys.command('revoke <id>'), 'data')
    .description('revoke a key; a running server refuses it at once')
    .example('keys revoke key_01hzy3v4q2m8k7t6r5w4x3y2z1')
    .action(revoke)
  addCommonOptions(keys.command('rotate <id>'), 'data')
    .description('replace a key with a new one of the same holder, and print the new secret once')
    .option(
      '--overlap <duration>',
      'how long the old key still works: 30s, 15m, 24h, at most 30d; 0 ends it at once',
      `${DEFAULT_OVERLAP_MS / HOUR_MS}h`,
    )
    .notes(`
The new key has the roles, identity, groups, name and expiry of the old one, and may use the approvals of its requests.
Votes cast with the old key count until it expires.`)
    .example('keys rotate key_01hzy3v4q2m8k7t6r5w4x3y2z1 --overlap 1h')
    .action(rotate)
}

function roleOption(): Option {
  // Choices serve help and completion; the parser validates each value.
  return new Option('--role <role>', 'role of the key; may be given several times')
    .choices(ROLES)
    .argParser(collectOneOf(ROLES))
    .makeOptionMandatory()
}

async function create(options: CreateOptions): Promise<void> {
  const { tenant, role: roles, environment, identity, name, group: groups, expiresAt } = options
  const request = parseRequest(given({ roles, environment, identity, name, groups, expiresAt }))
  if (tenant === undefined && !isAdmin(request.roles)) throw new UsageError('Name the tenant of the key with --tenant.')
  // An admin key would reach every tenant, whichever was named.
  if (tenant !== undefined && isAdmin(request.roles))
    throw new UsageError('An admin key reaches every tenant; leave out --tenant, or choose other roles.')
  // A refused id must not leave a data file behind.
  if (tenant !== undefined) assertTenantId(tenant)
  const actor = hostActor()
  const make = async (deps: Deps) => {
    if (tenant !== undefined) await ensureTenant(deps, actor, tenant)
    return createKey(deps, { actor, caller: undefined }, tenant ?? null, request)
  }
  const { id, key, tenantId, ...made } = await withStore(options, make, { create: true })
  const shown = { id, key, tenantId, roles: made.roles, environment: made.environment }
  print(options, shown, () => [key, `${id}: store the key now, it is not shown again.`])
}

async function list(options: CommonOptions & { tenant?: string }): Promise<void> {
  const keys = await withStore(options, async (deps) => {
    if (options.tenant !== undefined) assertTenant(deps, options.tenant)
    const found = tenantKeys(deps, options.tenant)
    return listed(found, await deps.store.keyUses(found.map(({ id }) => id)))
  })
  print(options, keys, () =>
    table(
      ['ID', 'TENANT', 'ENVIRONMENT', 'ROLES', 'STATE', 'LAST USED', 'IDENTITY', 'NAME'],
      keys.map((key) => [
        key.id,
        key.tenantId ?? '-',
        key.environment,
        key.roles.join(','),
        stateOf(key, Date.now()),
        key.lastUsedAt ?? '-',
        key.identity ?? '-',
        key.name ?? '',
      ]),
    ),
  )
}

function stateOf({ revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'active'
  return nowMs < Date.parse(expiresAt) ? `until ${expiresAt}` : 'expired'
}

async function rotate(id: string, options: CommonOptions & { overlap: string }): Promise<void> {
  const overlapMs = options.overlap === '0' ? 0 : parseDuration(options.overlap)
  if (overlapMs === undefined || overlapMs > MAX_OVERLAP_MS)
    throw new UsageError(`--overlap: ${options.overlap} is neither 0 nor a duration such as 15m or 24h, at most 30d.`)
  const made = await withStore(options, (deps) => {
    assertKey(deps, id)
    return rotateKey(deps, { actor: hostActor(), caller: undefined }, id, overlapMs)
  })
  const { tenantId, roles, environment, expiresAt, replaces } = made
  const shown = { id: made.id, key: made.key, tenantId, roles, environment, expiresAt, replaces }
  print(options, shown, () => [
    made.key,
    `${made.id}: store the key now, it is not shown again. It replaces ${id}, which ${overlapMs === 0 ? 'has ended' : `ends at ${replaces.expiresAt}`}.`,
  ])
}

function assertKey({ store }: Deps, id: string): void {
  if (!store.state().keys.has(id)) throw new CannotRun(`There is no key ${id}; see \`gate-sidecar keys list\`.`)
}

async function revoke(id: string, options: CommonOptions): Promise<void> {
  const key = await withStore(options, async (deps) => {
    assertKey(deps, id)
    return revokeKey(deps, { actor: hostActor(), caller: undefined }, id)
  })
  print(options, key, () => [
    `${key.id} is revoked.`,
    ...(key.replacedBy === null ? [] : [`Its successor ${key.replacedBy} is not revoked with it.`]),
  ])
}
