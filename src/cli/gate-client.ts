import { KEY_VARIABLE, TENANT_VARIABLE, URL_VARIABLE, USUAL_URL } from '../base/variables.ts'
import { GateClient, type GateOptions } from '../client/index.ts'
import type { GateCommand } from './command.ts'
import { UsageError } from './context.ts'
import type { Io } from './io.ts'

export interface GateClientOptions {
  io: Io
  url?: string
  tenant?: string
}

/** Options of a command that calls a running sidecar as an agent. The key comes from the environment alone, since it is a secret. */
export function addGateOptions(command: GateCommand): GateCommand {
  return command
    .option('--url <url>', `URL of the sidecar (default: ${URL_VARIABLE}, or ${USUAL_URL})`)
    .option('--tenant <id>', `the tenant (default: ${TENANT_VARIABLE})`)
}

/** @throws UsageError for missing or unusable options */
export function gateClient(options: GateClientOptions, more: Pick<GateOptions, 'timeout' | 'fetch'>): GateClient {
  const { [KEY_VARIABLE]: apiKey } = options.io.env
  if (!apiKey) throw new UsageError(`This command needs an API key: set ${KEY_VARIABLE}.`)
  const { tenant, url } = addressOf(options)
  return new GateClient({ tenantId: tenant, apiKey, baseUrl: url, ...more })
}

/** URL and tenant of the sidecar to call. @throws UsageError for missing or unusable options */
export function addressOf(options: GateClientOptions): { tenant: string; url: string } {
  const { [TENANT_VARIABLE]: usualTenant, [URL_VARIABLE]: usualUrl = USUAL_URL } = options.io.env
  const { tenant = usualTenant, url = usualUrl } = options
  if (!tenant) throw new UsageError(`This command needs a tenant: pass --tenant, or set ${TENANT_VARIABLE}.`)
  if (!(/^https?:/.test(url) && URL.canParse(url)))
    throw new UsageError(`${url} is not an http or https URL of a sidecar.`)
  return { tenant, url }
}
