import type { Command } from 'commander'
import { KEY_VARIABLE, TENANT_VARIABLE, URL_VARIABLE } from '../base/variables.ts'
import { GateClient, type GateOptions } from '../client/index.ts'
import { UsageError } from './context.ts'

export interface GateClientOptions {
  url?: string
  tenant?: string
}

/** Options of a command that asks a running sidecar, as an agent does. The key is a secret, and comes from the environment alone. */
export function addGateOptions(command: Command): Command {
  return command
    .option('--url <url>', `where the sidecar listens (default: ${URL_VARIABLE}, or http://127.0.0.1:4283)`)
    .option('--tenant <id>', `the tenant (default: ${TENANT_VARIABLE})`)
}

/** @throws UsageError for what is missing or cannot be used */
export function gateClient(options: GateClientOptions, more: Pick<GateOptions, 'timeout'>): GateClient {
  const { [KEY_VARIABLE]: apiKey, [TENANT_VARIABLE]: usualTenant, [URL_VARIABLE]: usualUrl } = process.env
  const { tenant: tenantId = usualTenant, url: baseUrl = usualUrl } = options
  if (!apiKey) throw new UsageError(`This needs an API key with the role agent: set ${KEY_VARIABLE}.`)
  if (!tenantId) throw new UsageError(`This needs a tenant: give --tenant, or set ${TENANT_VARIABLE}.`)
  if (baseUrl !== undefined) assertAddress(baseUrl)
  return new GateClient({ tenantId, apiKey, ...(baseUrl !== undefined && { baseUrl }), ...more })
}

/** @throws UsageError */
export function assertAddress(url: string): void {
  if (!(/^https?:/.test(url) && URL.canParse(url)))
    throw new UsageError(`${url} is no http or https address of a sidecar.`)
}
