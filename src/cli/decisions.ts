import type { Command } from 'commander'
import { decidedOf } from '../actions/answer.ts'
import { verifyEntries } from '../actions/audit.ts'
import type { Deps } from '../actions/deps.ts'
import { statusAt } from '../approvals/approval.ts'
import type { StoredEntry } from '../audit/chain.ts'
import { GateError } from '../base/errors.ts'
import { isId, siblingId } from '../base/id.ts'
import type { Json } from '../base/json.ts'
import { addCommonOptions, CannotRun, type CommonOptions, configOf, EXIT, withStore } from './context.ts'
import { type Line, paint, prettyJson, print } from './output.ts'

export function addDecisionCommands(program: Command): void {
  const decisions = program.command('decisions').description('look into single decisions')
  addCommonOptions(decisions.command('show <id>'), { data: true })
    .description(
      'show a decision, why it came out so, and its place in the chain; exit 1 when its entry does not verify',
    )
    .addHelpText('after', '\nExample:\n  gate-sidecar decisions show dec_01hzy3v4q2m8k7t6r5w4x3y2z1')
    .action(show)
}

async function show(id: string, options: CommonOptions): Promise<void> {
  const found = await withStore(configOf(options), {}, (deps) => decisionOf(deps, id))
  print(options, found, () => linesOf(found))
  if (!found.verified) process.exitCode = EXIT.negative
}

/** All that is recorded of a decision, by its id or its entry's. @throws CannotRun when there is none */
async function decisionOf(deps: Deps, id: string) {
  const entry = await deps.store.entry(isId(id, 'decision') ? siblingId(id, 'entry') : id)
  if (entry?.header.type !== 'gate.decision') {
    throw new CannotRun(
      `There is no decision ${id}; see \`gate-sidecar audit list --tenant TENANT --type gate.decision\`.`,
    )
  }
  const decided = decidedOf(entry)
  if (decided === undefined) throw new GateError('redacted', 'Parts of this decision have been erased.')
  const { decision, risk, grounds } = decided
  const { keyId, roles } = grounds.caller
  const key = deps.store.state().keys.get(keyId)
  return {
    id: decision.id,
    timestamp: entry.header.ts,
    action: decision.action,
    decision: decision.decision,
    reason: grounds.reason,
    rule: grounds.rule,
    decidedBy: grounds.decidedBy,
    retry: grounds.retry,
    riskScore: risk.score,
    factors: risk.factors,
    unevaluable: grounds.unevaluable,
    planValidated: grounds.planValidated,
    policyDigest: grounds.policyDigest,
    evaluatedAt: grounds.evaluatedAt,
    caller: { keyId, identity: key?.identity ?? null, name: key?.name ?? null, roles },
    request: requestOf(entry),
    approval: await approvalOf(deps, grounds.approvalId),
    ...(await placeOf(deps, entry)),
  }
}

type Found = Awaited<ReturnType<typeof decisionOf>>

function requestOf({ sections }: StoredEntry): Json {
  const section = sections.find(({ name }) => name === 'request')
  return section === undefined ? null : JSON.parse(section.json)
}

async function approvalOf(deps: Deps, id: string | null) {
  if (id === null) return null
  const approval = await deps.store.approval(id)
  return { id, status: approval === undefined ? null : statusAt(approval, deps.store.state().switches, deps.clock()) }
}

/** Where its entry stands, and whether it hashes to what it did and joins its neighbours. */
async function placeOf({ store }: Deps, { header, hash }: StoredEntry) {
  const { chain, seq, id, prev } = header
  const { valid, fault } = await verifyEntries(store, chain, seq, seq + 1)
  return { chain, seq, entryId: id, hash, previousHash: prev, verified: valid, fault }
}

function linesOf(found: Found): Line[] {
  const { decision, caller, approval } = found
  const holder = caller.identity ?? caller.name
  const colour = { allow: 'green', deny: 'red', require_approval: 'yellow' } as const
  return [
    [`${found.id}  `, paint(colour[decision], decision)],
    `action        ${found.action}`,
    `reason        ${found.reason}`,
    `decided by    ${found.decidedBy}${found.rule === null ? '' : `, rule ${found.rule}`} at ${found.timestamp}`,
    `risk          ${found.riskScore}`,
    ...found.factors.map(({ name, contribution, weight }) => `              ${name}: ${contribution} of ${weight}`),
    ...found.unevaluable.map(({ kind, name, facts }) => `unevaluable   ${kind} ${name}: ${facts.join(', ')}`),
    `asked by      ${caller.keyId}${holder === null ? '' : ` (${holder})`}, ${caller.roles.join(', ')}`,
    `policy        ${found.policyDigest ?? 'none in force'}`,
    `approval      ${approval === null ? '-' : `${approval.id} (${approval.status ?? 'gone'})`}`,
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
