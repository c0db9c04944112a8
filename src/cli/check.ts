import { resolve } from 'node:path'
import type { Command } from 'commander'
import { GateError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { parseJson } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import { parseRfc3339 } from '../base/time.ts'
import { readTenantFolder } from '../files/policies.ts'
import { type Judgement, judge } from '../gate/judge.ts'
import { RiskRequest } from '../gate/request.ts'
import { formatDiagnostic } from '../policy/diagnostics.ts'
import type { LeafResult } from '../policy/evaluate.ts'
import { loadPolicySet } from '../policy/load.ts'
import type { PolicySet, Truth } from '../policy/set.ts'
import {
  addCommonOptions,
  CannotRun,
  type CommonOptions,
  configOf,
  EXIT,
  environmentOption,
  UsageError,
} from './context.ts'
import { print } from './output.ts'

interface CheckOptions extends CommonOptions {
  tenant: string
  action: string
  context?: string
  plan?: string
  environment: 'live' | 'test'
  agent: string
  at?: string
}

const parseRequest = parserOf(RiskRequest)

export function addCheckCommand(program: Command): void {
  addCommonOptions(program.command('check'), { policies: true })
    .description('decide an action by the policy files alone, and explain; exit 1 unless it is allowed')
    .requiredOption('--tenant <id>', 'whose policies')
    .requiredOption('--action <name>', 'the action')
    .option('--context <json>', 'the context, a JSON object')
    .option('--plan <json>', 'the plan, a JSON object')
    .addOption(environmentOption())
    .option('--agent <name>', 'identity of the asking key', 'agent')
    .option('--at <time>', 'decide as of this time (RFC 3339) instead of now')
    .addHelpText(
      'after',
      `\nExample:\n  gate-sidecar check --tenant acme --action payment.transfer --context '{"amount": 25}'`,
    )
    .action(checkOffline)
}

async function checkOffline(options: CheckOptions): Promise<void> {
  const { tenant, environment, agent } = options
  const set = loadSet(resolve(configOf(options).policies), tenant)
  const context = objectOf('--context', options.context)
  const plan = objectOf('--plan', options.plan)
  const request = parseRequest({ action: options.action, ...(context && { context }), ...(plan && { plan }) })
  const nowMs = options.at === undefined ? Date.now() : parseRfc3339(options.at)
  if (nowMs === undefined) throw new UsageError(`--at: ${options.at} is not a time such as 2026-01-31T12:00:00Z.`)
  const judgement = await judge({
    set,
    killSwitchReason: undefined,
    tenant,
    environment,
    agent,
    nowMs,
    action: request.action,
    context,
    plan,
  })
  print(options, summary(judgement), () => explain(judgement))
  if (judgement.outcome.decision !== 'allow') process.exitCode = EXIT.negative
}

function loadSet(root: string, tenant: string): PolicySet {
  const { source } = readTenantFolder(root, tenant)
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} in ${root} ${source.problem}.`)
  const { set, diagnostics } = loadPolicySet(source)
  if (set !== undefined) return set
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  throw new CannotRun(
    `The policies of ${tenant} have faults:\n${errors.map((fault) => formatDiagnostic(fault, undefined)).join('\n')}`,
  )
}

function objectOf(option: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    // What it must be beyond JSON, the request's schema says.
    return parseJson(text, { maxDepth: 32 }) as JsonObject
  } catch (error) {
    if (error instanceof GateError) throw new UsageError(`${option}: ${error.message}`)
    throw error
  }
}

function summary({ outcome, risk, evaluation }: Judgement) {
  const { decision, reason, rule, decidedBy, unevaluable, planValidated } = outcome
  return {
    decision,
    reason,
    riskScore: risk.score,
    rule,
    decidedBy,
    planValidated,
    factors: risk.factors,
    unevaluable,
    rules:
      evaluation?.rules.map(({ rule: { id, effect }, outcome: truth, leaves }) => ({
        id,
        effect,
        outcome: truth,
        leaves,
      })) ?? [],
  }
}

const MARK: Record<Truth, string> = { true: 'yes', false: 'no ', unknown: '?  ' }

/** One screen: the decision, then each candidate rule and factor with what its conditions saw. */
function explain({ outcome, risk, evaluation }: Judgement): string[] {
  const head = [
    `${outcome.decision}  (decided by ${outcome.decidedBy}${outcome.rule === null ? '' : `, rule ${outcome.rule}`})`,
    `reason: ${outcome.reason}`,
    `risk score: ${risk.score}`,
  ]
  const rules = evaluation?.rules.flatMap(({ rule, outcome: truth, leaves }) => [
    `${MARK[truth]} ${rule.effect} ${rule.id}  ${rule.file}:${rule.line}`,
    ...leaves.map(leafLine),
  ])
  const factors = evaluation?.factors.flatMap(({ factor, outcome: truth, leaves }, i) => [
    `${MARK[truth]} ${factor.name}: ${risk.factors[i]?.contribution ?? 0} of ${factor.weight}  ${factor.file}:${factor.line}`,
    ...leaves.map(leafLine),
  ])
  return [...head, '', 'rules:', ...(rules ?? []), '', 'risk factors:', ...(factors ?? [])]
}

function leafLine({ fact, operator, wanted, seen, outcome }: LeafResult): string {
  const value = seen === undefined ? 'missing' : JSON.stringify(seen)
  return `    ${MARK[outcome]} ${fact} ${operator} ${JSON.stringify(wanted)}; it is ${value}`
}
