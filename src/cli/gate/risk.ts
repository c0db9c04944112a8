import type { GateCommand } from '../command.ts'
import { factorLines } from '../decisions/explanation-lines.ts'
import { addOfflineOptions, judgeOffline, type OfflineOptions } from '../evidence/offline.ts'
import { print } from '../output.ts'

export function addRiskCommand(program: GateCommand): void {
  addOfflineOptions(program.command('risk'))
    .description('score an action by the policy files alone, without deciding, and explain each factor')
    .example(`risk --tenant acme --action payment.transfer --context '{"amount": 25}'`)
    .action(riskOffline)
}

async function riskOffline(options: OfflineOptions): Promise<void> {
  const { judgement, explanation } = await judgeOffline(options)
  const { risk } = judgement
  print(options, risk, () => [`risk score: ${risk.score}`, '', 'risk factors:', ...factorLines(explanation)])
}
