import type { Judgement } from '../../gate/judge.ts'
import type { GateCommand } from '../command.ts'
import { EXIT } from '../context.ts'
import { decisionLines, explanationLines, factorLines } from '../decisions/explanation-lines.ts'
import type { Io } from '../io.ts'
import { type Line, paint, print } from '../output.ts'
import { addOfflineOptions, judgeOffline, type OfflineOptions } from './offline.ts'

export function addCheckCommand(program: GateCommand): void {
  addOfflineOptions(program.command('check'))
    .description('decide an action from the policy files alone; exit 1 unless it is allowed')
    .option('--explain', 'show each rule and risk factor of the action, and the values of their facts')
    .example(`check --tenant acme --action payment.transfer --context '{"amount": 25}' --explain`)
    .action(checkOffline)
}

async function checkOffline(options: OfflineOptions & { explain?: boolean }): Promise<void> {
  const { judgement, explanation } = await judgeOffline(options)
  const decided = summary(judgement)
  print(options, { ...decided, ...(options.explain && { explanation }) }, () => [
    ...decisionLines(decided, decided.riskScore, explanation),
    ...(options.explain ? explanationLines(explanation) : hint(options.io)),
  ])
  if (decided.decision !== 'allow') options.io.exitCode = EXIT.negative
}

function summary({ outcome, risk }: Judgement) {
  const { decision, reason, rule, decidedBy, unevaluable, planValidated, hold } = outcome
  return {
    decision,
    reason,
    riskScore: risk.score,
    rule,
    decidedBy,
    hold,
    planValidated,
    factors: risk.factors,
    unevaluable,
  }
}

/** A hint for people at a terminal; a script knows what it asked for. */
function hint({ stdout }: Io): Line[] {
  return stdout.isTTY
    ? [[paint('dim', 'Add --explain to see each rule and risk factor, and the values of their facts.')]]
    : []
}

export function addRiskCommand(program: GateCommand): void {
  addOfflineOptions(program.command('risk'))
    .description('score an action from the policy files alone, without deciding, and explain each factor')
    .example(`risk --tenant acme --action payment.transfer --context '{"amount": 25}'`)
    .action(riskOffline)
}

async function riskOffline(options: OfflineOptions): Promise<void> {
  const { judgement, explanation } = await judgeOffline(options)
  const { risk } = judgement
  print(options, risk, () => [`risk score: ${risk.score}`, '', 'risk factors:', ...factorLines(explanation)])
}
