import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatDiagnostic } from '../../authoring/diagnostics/text.ts'
import { loadPolicySet } from '../../authoring/load/load.ts'
import type { Environment } from '../../base/environment.ts'
import { parserOf } from '../../base/schema.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { readTenantFolder } from '../../files/read-folders.ts'
import { explanationOf } from '../../gate/explain.ts'
import { historyFrom } from '../../gate/history.ts'
import { judge } from '../../gate/judge.ts'
import { RiskRequest } from '../../gate/request.ts'
import type { PolicySet } from '../../policies/set.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, environmentOption, given, objectOf, UsageError } from '../context.ts'
import { noFolderOf, policiesRoot, sourceOf } from '../tenant-folders.ts'

/** A request that the policy files alone decide: no service, no data file. */
export interface OfflineOptions extends CommonOptions {
  tenant: string
  action: string
  context?: string
  plan?: string
  environment: Environment
  agent: string
  at?: string
}

const parseRequest = parserOf(RiskRequest)

export function addOfflineOptions(command: GateCommand): GateCommand {
  return addCommonOptions(command, 'policies')
    .requiredOption('--tenant <id>', 'tenant of the policies')
    .requiredOption('--action <name>', 'the action')
    .option('--context <json>', 'the context, a JSON object')
    .option('--plan <json>', 'the plan, a JSON object')
    .addOption(environmentOption())
    .option('--agent <name>', 'identity of the key that asks', 'agent')
    .option('--at <time>', 'time of the request, RFC 3339 (default: now)')
}

/** @throws UsageError for a malformed request, CannotRun when the tenant has no valid policies */
export async function judgeOffline(options: OfflineOptions) {
  const { tenant, environment, agent } = options
  const set = loadSet(policiesRoot(options), tenant)
  const context = objectOf('--context', options.context)
  const plan = objectOf('--plan', options.plan)
  const request = parseRequest(given({ action: options.action, context, plan }))
  const nowMs = options.at === undefined ? Date.now() : parseRfc3339(options.at)
  if (nowMs === undefined) throw new UsageError(`--at: ${options.at} is not a time such as 2026-01-31T12:00:00Z.`)
  const query = { agent, nowMs, action: request.action, context, plan }
  const history = historyFrom(set, query, [])
  const judgement = await judge({ set, killSwitchReason: undefined, tenant, environment, ...query, history })
  return { judgement, explanation: explanationOf(set, request.action, judgement) }
}

function loadSet(root: string, tenant: string): PolicySet {
  if (!existsSync(join(root, tenant))) throw noFolderOf(tenant, root)
  const { set, diagnostics } = loadPolicySet(sourceOf(readTenantFolder(root, tenant)))
  if (set !== undefined) return set
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  throw new CannotRun(
    `The policies of ${tenant} have faults:\n${errors.map((fault) => formatDiagnostic(fault, undefined)).join('\n')}`,
  )
}
