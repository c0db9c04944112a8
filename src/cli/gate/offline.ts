import type { Environment } from '../../base/environment.ts'
import { parserOf } from '../../base/schema.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { explanationOf } from '../../gate/explain.ts'
import { historyFrom } from '../../gate/history.ts'
import { judge } from '../../gate/judge.ts'
import { RiskRequest } from '../../gate/request.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { type CommonOptions, environmentOption, given, objectOf, UsageError } from '../context.ts'
import { policiesRoot, validSet } from '../tenant-folders.ts'

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
  const set = validSet(policiesRoot(options), tenant)
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
