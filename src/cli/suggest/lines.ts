import type { Suggested, Suggestions } from '../../actions/suggest/suggest.ts'
import { counted } from '../../base/counted.ts'
import { UNKNOWN } from '../../replay/decide.ts'
import type { Limited } from '../../replay/shown.ts'
import { changedOf, percentOf } from '../../replay/shown.ts'
import type { Minima } from '../../suggest/shapes.ts'
import { type Line, paint } from '../output.ts'
import { matrixLines } from '../replay/lines.ts'

/** Suggestions with what they are about, and what was written. */
export interface ShownSuggestions {
  suggestions: Suggestions
  replay: Limited
  /** Digest of the policies that they would change. */
  policyDigest: string
  minima: Minima
  files: readonly string[]
  next: readonly string[]
}

/** Suggestions for people. */
export function linesOf({ suggestions, replay, policyDigest, minima, files, next }: ShownSuggestions): Line[] {
  const { suggested, not, leftOut, counts, findings, digest } = suggestions
  const { requests, days, approvers } = minima
  return [
    [paint('bold', `suggestions for ${replay.trail}`), ` from ${replay.from} to ${replay.to ?? 'the last'}`],
    `policies      ${policyDigest}`,
    `read          ${counted(counts.read, 'request')}`,
    ...leftOutOf(counts).map((text) => `left out      ${text}`),
    `minima        ${counted(requests, 'request')}; approvals: on ${days} days or in ${days} sessions, by ${people(approvers)}`,
    '',
    ...suggested.flatMap((one) => [...oneLines(one), '']),
    ...(suggested.length === 0 ? ['No proposals.', ''] : []),
    ...(leftOut > 0
      ? [`and ${counted(leftOut, 'more proposal')}; apply the draft, then run the command again`, '']
      : []),
    ...not.map(({ what, why }): Line => [paint('dim', 'not proposed  '), `${what}: ${why}`]),
    ...(not.length > 0 ? [''] : []),
    ...(suggested.length === 0 ? [] : draftLines(replay, digest)),
    ...findings.map(({ code, file, line, message }) => `lint          ${file}:${line} ${code} ${message}`),
    ...files.map((file) => `wrote ${file}`),
    ...(next.length > 0 ? ['', 'The draft is not in force. Next:', ...next.map((command) => `  ${command}`)] : []),
  ]
}

function leftOutOf({ stopped, unknown, otherwise }: Suggestions['counts']): string[] {
  return [
    ...(stopped > 0 ? [`${stopped} denied by a stop, which no policy changes`] : []),
    ...(unknown.erased > 0 ? [`${unknown.erased} unknown: ${UNKNOWN.erased}`] : []),
    ...(unknown.pruned > 0 ? [`${unknown.pruned} unknown: ${UNKNOWN.pruned}`] : []),
    ...(otherwise > 0 ? [`${otherwise} that these policies decide differently now`] : []),
  ]
}

function oneLines({ proposal, changes, tests }: Suggested): Line[] {
  const { id, effect, what, why, support, approvers, free = [] } = proposal
  const { requests, agents, first, last, days, sessions } = support
  const changed = changes.map(({ from, to, count }) => `${count} ${from} → ${to}`)
  const by = approvers === undefined ? '' : `, approved by ${people(approvers)}`
  return [
    [paint('bold', id), '  ', paint(effect === 'loosens' ? 'yellow' : 'green', effect), `  ${what}`],
    `    why         ${why}`,
    `    support     ${counted(requests, 'request')} by ${counted(agents, 'agent')} on ${counted(days, 'day')}${sessions === 0 ? '' : `, in ${counted(sessions, 'session')}`}${by}`,
    ...(first === null || last === null
      ? []
      : [`    range       ${first.id} at ${first.timestamp} to ${last.id} at ${last.timestamp}`]),
    ...(free.length === 0 ? [] : [`    any value   ${free.join(', ')}`]),
    `    changes     ${changed.length === 0 ? 'no recorded request' : changed.join(', ')}`,
    `    tests       ${testsText(tests)}`,
  ]
}

function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`
}

function testsText({ changed, near, madeUp, untested }: Suggested['tests']): string {
  return [
    `${changed} changed, ${near} unchanged`,
    ...(madeUp > 0 ? [`${madeUp} made up`] : []),
    ...(untested > 0 ? [`${untested} not reproducible in a test`] : []),
  ].join(', ')
}

function draftLines(replay: Limited, digest: string): Line[] {
  const { report } = replay
  const changed = changedOf(report)
  return [
    `draft         ${digest}`,
    `changed       ${changed} of ${report.decided} (${percentOf(changed, report.decided)})`,
    '',
    ...matrixLines(report, 'then \\ draft'),
    '',
  ]
}

/** Suggestions for programs. */
export function jsonOf({ suggestions, replay, policyDigest, minima, files, next }: ShownSuggestions) {
  const { counts, suggested, leftOut, not, digest, findings } = suggestions
  const { trail, from, to, report } = replay
  return {
    ...{ trail, from, to, policyDigest, minima, counts },
    proposals: suggested.map(({ proposal, changes, tests }) => {
      const { id, kind, effect, rules, actions, what, why, support, approvers = null, free = [] } = proposal
      return { id, kind, effect, rules, actions, what, why, support, approvers, free, changes, tests }
    }),
    ...{ leftOut, notProposed: not },
    draft: { digest, decided: report.decided, changed: changedOf(report), matrix: report.matrix },
    findings: findings.map(({ code, file, line, message }) => ({ code, file, line, message })),
    ...{ files, next },
  }
}
