import { decisionOnHost, type RecordedDecision, recordedDecision } from '../../actions/decisions/decisions.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { type CommonOptions, EXIT } from '../context.ts'
import { withStore } from '../data-file.ts'
import { type Line, paint, prettyJson, print, undisguisedLines } from '../output.ts'
import { EFFECT_STYLE, observedLines, shadowLines } from './explanation-lines.ts'
import { addListCommand } from './list.ts'

export function addDecisionCommands(program: GateCommand): void {
  const decisions = program.command('decisions').description('list and show recorded decisions')
  addListCommand(decisions)
  addCommonOptions(decisions.command('show <id>'), 'data')
    .description('show a decision, its reason and its place in the chain; exit 1 if its entry does not verify')
    .example('decisions show dec_01hzy3v4q2m8k7t6r5w4x3y2z1')
    .action(show)
}

async function show(id: string, options: CommonOptions): Promise<void> {
  const found = await withStore(options, async (deps) => recordedDecision(deps, await decisionOnHost(deps.store, id)))
  print(options, found, () => undisguisedLines(linesOf(found)))
  if (!found.verified) options.io.exitCode = EXIT.negative
}

function linesOf(found: RecordedDecision): Line[] {
  const { decision, caller, approval } = found
  const holder = caller.identity ?? caller.name
  return [
    [`${found.id}  `, paint(EFFECT_STYLE[decision], decision)],
    ...observedLines(found.observed),
    ...shadowLines(found.shadow),
    `action        ${found.action}`,
    `reason        ${found.reason}`,
    `decided by    ${found.decidedBy}${found.rule === null ? '' : `, rule ${found.rule}`} at ${found.timestamp}`,
    `risk          ${found.riskScore}`,
    ...found.factors.map(({ name, contribution, weight }) => `              ${name}: ${contribution} of ${weight}`),
    ...found.unevaluable.map(({ kind, name, facts, overBudget = [] }) => {
      const tooMuch = overBudget.map((fact) => `${fact} (too much work)`)
      return `unevaluable   ${kind} ${name}: ${[...facts, ...tooMuch].join(', ')}`
    }),
    `asked by      ${caller.keyId}${holder === null ? '' : ` (${holder})`}, ${caller.roles.join(', ')}`,
    `policy        ${found.policyDigest ?? 'none in force'}`,
    `approval      ${approval === null ? '-' : `${approval.id} (${approval.status ?? 'gone'})`}`,
    outcomeLine(found.outcome),
    `entry         ${found.entryId}, number ${found.seq} of ${found.chain}`,
    `hash          ${found.hash}`,
    found.verified
      ? ['verified      ', paint('green', 'yes, with the entries before and after it')]
      : ['verified      ', paint('red', `NO: ${found.fault}`)],
    '',
    'request:',
    ...prettyJson(found.request),
  ]
}

function outcomeLine(outcome: RecordedDecision['outcome']): Line {
  if (outcome === null) return 'outcome       -'
  const { status, possibleBypass, durationMs, error } = outcome
  const parts = [status, ...(durationMs === null ? [] : [`after ${durationMs} ms`]), ...(error === null ? [] : [error])]
  const line = parts.join(', ')
  return possibleBypass
    ? ['outcome       ', paint('red', `${line}: the gate may have been bypassed`)]
    : `outcome       ${line}`
}
