import type { Seal } from '../../actions/replay/seal.ts'
import { counted } from '../../base/counted.ts'
import type { Change, Kind, ReplayReport, Side } from '../../replay/report.ts'
import { cellOf, changedOf, exceptionsOf, FROMS, kindText, type Limited, percentOf, TOS } from '../../replay/shown.ts'
import { explanationLines } from '../decisions/explanation-lines.ts'
import { columns, type Line, paint } from '../output.ts'

/** Kinds that are listed, and facts, rules and factors. */
const MAX_LISTED = 20

/** A replay for people. */
export function linesOf(shown: Limited & { seal?: Seal }, verbose: boolean): Line[] {
  const { trail, from, to, policyDigest, history, report, limits, seal } = shown
  const changed = changedOf(report)
  return [
    [paint('bold', `replay of ${trail}`), ` from ${from ?? 'the first request'} to ${to ?? 'the last'}`],
    `draft         ${policyDigest}`,
    `history       ${history === 'draft' ? 'what the draft would have allowed' : 'what was allowed then'}`,
    `decided       ${counted(report.decided, 'request')}`,
    ...exceptionsOf(shown).map((text) => `left out      ${text}`),
    `changed       ${changed} (${percentOf(changed, report.decided)})`,
    '',
    ...matrixLines(report, 'then \\ draft'),
    ...kindLines(report, verbose),
    ...shiftLines(report),
    ...limits.map(({ limit, count, exceeded }): Line => {
      const verdict = exceeded ? paint('red', 'EXCEEDED') : paint('green', 'kept')
      return [`limit         ${limit}: ${count}, `, verdict]
    }),
    ...(seal === undefined ? [] : [`sealed        entry ${seal.entryId}, report ${seal.report}`]),
    '',
  ]
}

/** Counts by decision. @param corner what the rows and columns are */
export function matrixLines(report: Pick<ReplayReport, 'matrix'>, corner: string): Line[] {
  const froms = FROMS.filter((from) => TOS.some((to) => cellOf(report, from, to) > 0))
  const head = [corner, ...TOS]
  return columns([
    head.map((name) => paint('bold', name)),
    ...froms.map((from) => [from, ...TOS.map((to) => countCell(cellOf(report, from, to), from === to))]),
  ])
}

function countCell(count: number, isSame: boolean) {
  if (count === 0) return paint('dim', '0')
  return isSame ? String(count) : paint('yellow', String(count))
}

function kindLines({ kinds, kindsLeftOut }: ReplayReport, verbose: boolean): Line[] {
  const more = kinds.length - MAX_LISTED
  return [
    ...kinds.slice(0, MAX_LISTED).flatMap((kind) => ['', ...oneKind(kind, verbose)]),
    ...(more > 0 ? ['', `and ${counted(more, 'more kind')} of change; see --json`] : []),
    ...(kindsLeftOut > 0 ? ['', `and ${counted(kindsLeftOut, 'request')} of further kinds`] : []),
    '',
  ]
}

function oneKind({ from, to, count, first }: Kind, verbose: boolean): Line[] {
  return [
    [paint('bold', String(count)), `  ${kindText({ from, to })}`],
    `    first       ${first.id}: ${first.action} by ${first.agent} at ${first.timestamp}`,
    `    then        ${sideLine(first.from)}`,
    `    draft       ${sideLine(first.to)}`,
    ...(verbose ? sideBySide(first) : []),
  ]
}

function sideLine({ reason, riskScore }: Side): string {
  return riskScore === null ? 'not decided' : `${reason} Risk ${riskScore}.`
}

/** The explanations one below the other, since a line has no room for both. */
function sideBySide({ before, after }: Change): Line[] {
  const block = (title: string, why: Change['after']): Line[] => [
    ['    ', paint('bold', title)],
    ...(why === null ? ['      not known any more'] : indented(explanationLines(why))),
  ]
  return [...block('as it was decided', before), ...block('by the draft', after)]
}

function indented(lines: readonly Line[]): Line[] {
  return lines.map((line) => (typeof line === 'string' ? `      ${line}` : ['      ', ...line]))
}

/** Changes of rules, factors, scores and facts, without those that stay as they were. */
function shiftLines({ rules, factors, scores, unevaluable }: ReplayReport): Line[] {
  const ofRules = rules.filter(({ before, after }) => before !== after)
  const ofFactors = factors.filter(({ changed }) => changed > 0)
  return [
    ...ofRules
      .slice(0, MAX_LISTED)
      .map(({ rule, before, after }) => `rule          ${rule} decides ${after} instead of ${before}`),
    ...ofFactors
      .slice(0, MAX_LISTED)
      .map(
        ({ name, before, after, changed }) => `factor        ${name} adds ${after} instead of ${before}, in ${changed}`,
      ),
    ...(scores.higher + scores.lower > 0
      ? [
          `risk          higher in ${scores.higher}, lower in ${scores.lower}; mean ${scores.meanAfter} instead of ${scores.meanBefore}`,
        ]
      : []),
    ...unevaluable.facts
      .slice(0, MAX_LISTED)
      .map(
        ({ fact, of, count, first }) =>
          `unevaluable   ${fact} is missing in ${count}, for ${of.join(', ')}; first ${first}`,
      ),
    ...(ofRules.length + ofFactors.length + scores.higher + scores.lower + unevaluable.facts.length > 0 ? [''] : []),
  ]
}
