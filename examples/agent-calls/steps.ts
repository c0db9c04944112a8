import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call, Sample } from './sample.ts'
import { type Ended, expect, type Folder, run, type Sidecar } from './sidecar.ts'

export const DECISIONS = ['allow', 'require_approval', 'deny'] as const
export type Decision = (typeof DECISIONS)[number]

/** What `POST /gate/check` answers, as far as it is shown here. */
export interface Answer {
  decision: Decision
  reason: string
  riskScore: number
  decisionId: string
  decidedBy: string
  approvalId: string | null
}

export interface Played {
  call: Call
  answer: Answer
}

/** One key for each of those who take part. */
export interface Keys {
  agent: string
  approver: string
  operator: string
  auditor: string
}

/** The key that makes the others, made on the host. @returns its secret */
export async function makeOwner(folder: Folder): Promise<string> {
  const { code, stdout } = await run(folder, ['keys', 'create', '--tenant', 'demo', '--role', 'owner', '--json'])
  expect(code === 0, 'The owner key could not be made.')
  const { key }: { key: string } = JSON.parse(stdout)
  return key
}

export async function makeKeys({ call }: Sidecar, owner: string): Promise<Keys> {
  const make = async (role: string, identity: string): Promise<string> =>
    (await call<{ key: string }>(owner, 'POST', '/keys', { roles: [role], identity })).key
  return {
    agent: await make('agent', 'assistant'),
    approver: await make('approver', 'ann'),
    operator: await make('operator', 'otto'),
    auditor: await make('auditor', 'ada'),
  }
}

/** What the program around the agent sends before it lets the call through. No label is in it. */
function check({ call }: Sidecar, key: string, { action, args, tainted, provenance, session }: Call) {
  const context = { args, tainted, provenance, session }
  return call<Answer>(key, 'POST', '/gate/check', { tenantId: 'demo', action, context })
}

/** Every call, one after the other, as the agents made them. */
export async function play(
  sidecar: Sidecar,
  keys: Keys,
  { calls }: Sample,
  onProgress: (done: number) => void,
): Promise<Played[]> {
  const played: Played[] = []
  for (const call of calls) {
    played.push({ call, answer: await check(sidecar, keys.agent, call) })
    onProgress(played.length)
  }
  return played
}

export interface Approved {
  call: Call
  approvalId: string
  held: Answer
  used: Answer
  again: Answer
}

/** The payment that the demo tells about: a user wants a bill paid, and the account is in the bill, which others wrote. */
const BILL = { session: 'banking-9', action: 'send_money' }

/** A person approves a payment that was held; it goes through once. */
export async function approve(sidecar: Sidecar, keys: Keys, played: readonly Played[]): Promise<Approved> {
  const found = played.find(({ call }) => call.session === BILL.session && call.action === BILL.action)
  const approvalId = found?.answer.approvalId
  expect(found !== undefined && typeof approvalId === 'string', 'The payment of the bill was not held.')
  const { call, answer: held } = found
  const approval = await sidecar.call<{ status: string }>(keys.approver, 'POST', `/approvals/${approvalId}/approve`, {
    approverId: 'ann',
    comment: 'this is the account of the supplier',
  })
  expect(approval.status === 'approved', `The approval is ${approval.status}.`)
  const used = await check(sidecar, keys.agent, call)
  expect(used.decision === 'allow' && used.decidedBy === 'approval', `The approved call: ${used.reason}`)
  const again = await check(sidecar, keys.agent, call)
  expect(again.decision === 'require_approval' && again.approvalId !== approvalId, `Used twice: ${again.reason}`)
  return { call, approvalId, held, used, again }
}

export interface Stopped {
  covers: string[]
  call: Call
  during: Answer
  /** A call of another domain meanwhile. */
  elsewhere: Played
  after: Answer
}

/** An operator stops everything that moves money, and ends the stop. */
export async function stopAndRecover(sidecar: Sidecar, keys: Keys, played: readonly Played[]): Promise<Stopped> {
  const stop = { level: 'L2', scope: 'money', reason: 'odd payments', triggeredBy: 'otto' }
  const { covers } = await sidecar.call<{ covers: string[] }>(keys.operator, 'POST', '/killswitch/trigger', stop)
  const allowed = played.filter(({ answer }) => answer.decision === 'allow')
  const covered = allowed.find(({ call }) => covers.includes(call.action))
  const other = allowed.find(({ call }) => !covers.includes(call.action))
  expect(covered !== undefined && other !== undefined, `The stop covers ${covers.join(', ')}.`)
  const during = await check(sidecar, keys.agent, covered.call)
  expect(during.decision === 'deny' && during.decidedBy === 'kill_switch', `While stopped: ${during.reason}`)
  const elsewhere = { call: other.call, answer: await check(sidecar, keys.agent, other.call) }
  expect(elsewhere.answer.decision === 'allow', `The stop reaches further: ${elsewhere.answer.reason}`)
  const recover = { level: 'L2', scope: 'money', recoveredBy: 'otto', comment: 'looked into' }
  await sidecar.call(keys.operator, 'POST', '/killswitch/recover', recover)
  const after = await check(sidecar, keys.agent, covered.call)
  expect(after.decision === 'allow', `After the recovery: ${after.reason}`)
  return { covers, call: covered.call, during, elsewhere, after }
}

/** Recomputes every hash of the tenant's trail. */
export async function verifyChain({ call }: Sidecar, keys: Keys): Promise<{ entriesChecked: number }> {
  const range = { startDate: '2000-01-01', endDate: '2999-12-31' }
  const result = await call<{ valid: boolean; entriesChecked: number }>(keys.auditor, 'POST', '/audit/verify', range)
  expect(result.valid, 'The chain does not verify.')
  return { entriesChecked: result.entriesChecked }
}

export interface Proved {
  /** The log key, as it is pinned. */
  vkey: string
  bytes: number
  /** What the verifier says of the bundle as it is, and of one in which the decision was changed. */
  verdict: string
  altered: string
}

/** Exports the evidence of a decision, ends the service, and verifies it with nothing but the pinned key. */
export async function prove(folder: Folder, sidecar: Sidecar, keys: Keys, { decisionId }: Answer): Promise<Proved> {
  const bundle = await sidecar.call<object>(keys.auditor, 'GET', `/evidence/bundle/${decisionId}`)
  const [{ vkey }] = JSON.parse((await run(folder, ['signing-keys', 'show', '--json'])).stdout)
  expect((await sidecar.stop()) === 0, 'The service did not end cleanly.')
  const text = JSON.stringify(bundle)
  const verify = (name: string, content: string): Promise<Ended> => {
    const file = join(folder.dir, name)
    writeFileSync(file, content)
    return run(folder, ['evidence', 'verify', file, '--vkey', vkey])
  }
  const [asExported, altered] = await Promise.all([
    verify('bundle.json', text),
    verify('altered.json', text.replaceAll('"decision":"allow"', '"decision":"deny"')),
  ])
  expect(asExported.code === 0, `The bundle does not verify: ${asExported.stdout}`)
  expect(altered.code === 1, 'An altered bundle verifies.')
  return { vkey, bytes: text.length, verdict: lastLine(asExported.stdout), altered: lastLine(altered.stdout) }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
