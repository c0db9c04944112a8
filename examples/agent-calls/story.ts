import { type Line, paint } from '../../src/cli/output.ts'
import type { Label, Sample } from './sample.ts'
import { type Counts, decisionCell } from './show.ts'
import type { Answer, Approved, Proved, Stopped } from './steps.ts'

// What the demo says beside its table. Texts of the recorded calls are hostile: control characters are shown escaped.

/** Longest request that is shown, in characters. */
const SHOWN = 90

export function heading(text: string): Line[] {
  return ['', [paint('bold', text)], '']
}

export function inWords({ allow, require_approval: held, deny }: Counts): string {
  return `${allow} allowed, ${held} held for a person, ${deny} denied`
}

/** Both ways: what became of what attackers wanted, and what was in the way of the users. */
export function labelLines({ user, goal, support, other }: Record<Label, Counts>): Line[] {
  return [
    `  ${sum(user)} served the user: ${inWords(user)}.`,
    `  ${sum(goal)} did what an attacker wanted: ${inWords(goal)}.`,
    `  ${sum(support)} read something on the way to that: ${inWords(support)}.`,
    `  ${sum(other)} served both, or cannot be told: ${inWords(other)}.`,
  ]
}

function sum({ allow, require_approval: held, deny }: Counts): number {
  return allow + held + deny
}

export function approvalLines({ call, held, used, again }: Approved, { requests }: Sample): Line[] {
  const request = requests.get(call.session) ?? ''
  return [
    `  The user had asked: ${request.length > SHOWN ? `${request.slice(0, SHOWN)}…` : request}`,
    `  The agent asks for ${call.action} ${JSON.stringify(call.args)}`,
    ...answered('at first', held),
    '  Ann, who has an approver key, knows the account and approves it.',
    ...answered('repeated', used),
    ...answered('once more', again),
  ]
}

export function stopLines({ covers, call, during, elsewhere, after }: Stopped): Line[] {
  return [
    `  Otto, who has an operator key, stops ${covers.join(', ')}.`,
    ...answered(call.action, during),
    ...answered(elsewhere.call.action, elsewhere.answer),
    '  He looks into it, and ends the stop.',
    ...answered(call.action, after),
  ]
}

export function proofLines({ vkey, bytes, verdict, altered }: Proved): Line[] {
  return [
    `  A bundle of ${bytes} bytes, and the pinned key ${vkey}`,
    `  as exported:                ${verdict}`,
    `  with the decision altered:  ${altered}`,
  ]
}

function answered(when: string, { decision, reason }: Answer): Line[] {
  return [[`    ${when.padEnd(30)} `, decisionCell(decision), `  ${reason}`]]
}
