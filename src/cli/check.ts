import type { Command } from 'commander'
import type { Judgement } from '../gate/judge.ts'
import { EXIT } from './context.ts'
import { addOfflineOptions, factorLines, judgeOffline, leafLine, MARK, type OfflineOptions } from './offline.ts'
import { print } from './output.ts'

export function addCheckCommand(program: Command): void {
  addOfflineOptions(program.command('check'))
    .description('decide an action by the policy files alone, and explain; exit 1 unless it is allowed')
    .addHelpText(
      'after',
      `\nExample:\n  gate-sidecar check --tenant acme --action payment.transfer --context '{"amount": 25}'`,
    )
    .action(checkOffline)
}

async function checkOffline(options: OfflineOptions): Promise<void> {
  const judgement = await judgeOffline(options)
  print(options, summary(judgement), () => explain(judgement))
  if (judgement.outcome.decision !== 'allow') process.exitCode = EXIT.negative
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

/** One screen: the decision, then each candidate rule and factor with what its conditions saw. */
function explain(judgement: Judgement): string[] {
  const { outcome, risk, evaluation } = judgement
  const head = [
    `${outcome.decision}  (decided by ${outcome.decidedBy}${outcome.rule === null ? '' : `, rule ${outcome.rule}`})`,
    `reason: ${outcome.reason}`,
    `risk score: ${risk.score}`,
  ]
  const rules = evaluation?.rules.flatMap(({ rule, outcome: truth, leaves }) => [
    `${MARK[truth]} ${rule.effect} ${rule.id}  ${rule.file}:${rule.line}`,
    ...leaves.map(leafLine),
  ])
  return [...head, '', 'rules:', ...(rules ?? []), '', 'risk factors:', ...factorLines(judgement)]
}
