import type { Caller, Deps } from '../actions/deps.ts'
import { callerFor, keyOfSecret } from '../actions/keys/authenticate.ts'
import { KEY_VARIABLE } from '../base/variables.ts'
import { isAdmin } from '../keys/roles.ts'
import type { RouteRule } from '../keys/routes.ts'
import type { StartCheck } from '../store/verify/startup.ts'
import { addCommonOptions, type GateCommand } from './command.ts'
import { type CommonOptions, UsageError } from './context.ts'
import { withStore } from './data-file.ts'
import type { Io } from './io.ts'

export interface KeyOptions extends CommonOptions {
  key?: string
  tenant?: string
}

/** Input limit: a secret has 57 characters, so anything longer is something else. */
const MAX_INPUT = 1024

/** Options of a command that acts for the holder of an API key, as a request over HTTP does. */
export function addKeyOptions(command: GateCommand, tenantHelp = 'the tenant, for an admin key'): GateCommand {
  return addCommonOptions(command, 'data')
    .option('--key <secret>', `API key, or - to read it from stdin (default: ${KEY_VARIABLE})`)
    .option('--tenant <id>', tenantHelp)
}

/**
 * Runs `work` as the holder of the given key, with the roles of `route` enforced as over HTTP.
 *
 * @throws UsageError without a key, GateError when the key is refused
 */
export async function withCaller<T>(
  options: KeyOptions,
  route: RouteRule,
  work: (deps: Deps, caller: Caller) => Promise<T>,
): Promise<T> {
  const secret = await secretGiven(options)
  if (secret === undefined) {
    throw new UsageError(`This command needs an API key: set ${KEY_VARIABLE}, or pipe the key in and pass --key -.`)
  }
  return withStore(options, async (deps) => work(deps, await callerBy(deps, secret, options.tenant, route)))
}

/** Like `withCaller`, but the host may read without a key: the caller is null then. A given key that is refused is an error. */
export async function withReader<T>(
  options: KeyOptions,
  route: RouteRule,
  { check }: { check: StartCheck },
  work: (deps: Deps, caller: Caller | null) => Promise<T>,
): Promise<T> {
  const secret = await secretGiven(options)
  const run = async (deps: Deps) =>
    work(deps, secret === undefined ? null : await callerBy(deps, secret, options.tenant, route))
  return withStore(options, run, { check })
}

async function callerBy(
  { store, clock }: Deps,
  secret: string,
  tenant: string | undefined,
  route: RouteRule,
): Promise<Caller> {
  const state = store.state()
  const key = await keyOfSecret(store, secret, clock())
  const tenantId = tenant ?? key.tenantId
  if (tenantId === null || (tenant === undefined && isAdmin(key.roles)))
    throw new UsageError('An admin key reaches every tenant; name one with --tenant.')
  return callerFor(state, key, tenantId, route)
}

/** The given secret, if any; an empty one counts as given. */
async function secretGiven({ io, key = io.env[KEY_VARIABLE] }: KeyOptions): Promise<string | undefined> {
  return key === '-' ? firstLineOf(io) : key
}

async function firstLineOf({ stdin }: Io): Promise<string> {
  let text = ''
  stdin.setEncoding('utf8')
  for await (const chunk of stdin) {
    text += chunk
    if (text.includes('\n') || text.length > MAX_INPUT) break
  }
  return text.slice(0, MAX_INPUT).split('\n', 1).join('').trim()
}
