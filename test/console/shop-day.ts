import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Cleanup, type Gate, startGate, temporaryFolder } from '../helpers.ts'

const POLICIES = fileURLToPath(new URL('../../policies/acme', import.meta.url))
const HOUR_MS = 3_600_000
/** Length of the day when pictures are taken. */
const DAY_MS = 20 * HOUR_MS

type Key = Awaited<ReturnType<Gate['key']>>

/** A day of a company that uses the policies of acme, as it is told to the service by a clock that is put forward. */
export interface Day {
  gate: Gate
  owner: Key
  /** Approver for treasury, operations and data protection. */
  ann: Key
  operator: Key
  auditor: Key
}

/** Requests of agents, with how often each is made. */
const ASKED: [
  agent: 'billing-bot' | 'support-agent' | 'data-steward',
  action: string,
  context: object,
  times: number,
][] = [
  ['billing-bot', 'payment.transfer', { ...to('DE02100500000054540402', 'DE'), amount: 180, knownRecipient: true }, 40],
  [
    'billing-bot',
    'payment.transfer',
    { ...to('FR7630006000011234567890189', 'FR'), amount: 940.5, knownRecipient: true },
    22,
  ],
  [
    'billing-bot',
    'payment.transfer',
    { ...to('IR580540105180021273113007', 'IR'), amount: 60, knownRecipient: false },
    4,
  ],
  ['billing-bot', 'invoice.create', { customer: 'K-1184' }, 30],
  ['support-agent', 'payment.refund', { amount: 35, orderId: 'A-20931' }, 34],
  ['support-agent', 'email.send', { to: ['ann@acme.example'], subject: 'Weekly figures' }, 28],
  ['support-agent', 'email.send', { to: ['joe@customer.example'], subject: 'Your order' }, 26],
  ['data-steward', 'db.read', { table: 'orders', rows: 20 }, 44],
  ['data-steward', 'db.write', { table: 'orders', rows: 3 }, 18],
  ['data-steward', 'db.drop', { table: 'orders_old' }, 5],
  ['data-steward', 'file.read', { path: '/workspace/../etc/passwd' }, 3],
  ['support-agent', 'credential.read', { name: 'crm' }, 4],
]

/** Requests still held when the pictures are taken, oldest first. */
const HELD: [agent: string, action: string, context: object][] = [
  ['support-agent', 'payment.refund', { amount: 240, orderId: 'A-20877', reason: 'Parcel lost, customer asked twice' }],
  ['data-steward', 'db.read', { table: 'customers', rows: 12, purpose: 'Duplicate addresses in the newsletter list' }],
  ['support-agent', 'email.send', { to: ['sales@partner.example'], subject: 'Offer 2026-117', attachments: 1 }],
  [
    'billing-bot',
    'payment.transfer',
    {
      ...to('GB29NWBK60161331926819', 'GB'),
      amount: 4800,
      knownRecipient: false,
      tainted: true,
      reference: 'Invoice 88-2214, new account',
    },
  ],
  [
    'billing-bot',
    'payment.transfer',
    { ...to('DE75512108001245126199', 'DE'), amount: 13_500, knownRecipient: true, reference: 'Q4 server lease' },
  ],
  ['support-agent', 'payment.refund', { amount: 410, orderId: 'A-20959', reason: 'Wrong size, second return' }],
]

function to(iban: string, country: string) {
  return { iban, country }
}

/** The same numbers in each run (mulberry32). */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Plays the day up to now. Its clock goes too fast for the service, which signs by the time that really passes: the trail of such a day is not verified. */
export async function playDay(t: Cleanup): Promise<Day> {
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'policies'))
  cpSync(POLICIES, join(dir, 'policies/acme'), { recursive: true })
  const beginMs = Date.now() - DAY_MS
  let atMs = beginMs
  const gate = await startGate(t, { dir, policies: {}, clock: () => Math.min(atMs, Date.now()) })
  const owner = await gate.key({ roles: ['owner'], identity: 'olga', name: 'Olga, platform' })
  const keys = new Map<string, Key>()
  for (const identity of ['billing-bot', 'support-agent', 'data-steward'])
    keys.set(identity, await gate.key({ roles: ['agent'], identity, name: identity }))
  const groups = ['treasury', 'operations', 'data-protection']
  const ann = await gate.key({ roles: ['approver'], identity: 'ann', name: 'Ann, on call', groups })
  const bob = await gate.key({ roles: ['approver'], identity: 'bob', name: 'Bob', groups })
  const operator = await gate.key({ roles: ['operator'], identity: 'otto', name: 'Otto, operations' })
  const auditor = await gate.key({ roles: ['auditor'], identity: 'aida', name: 'Aida, audit' })
  const check = async (agent: string, action: string, context: object) => {
    const session = `${agent}-${Math.floor((atMs - beginMs) / HOUR_MS)}`
    const body = {
      tenantId: 'acme',
      action,
      context: { tainted: 'reason' in context || action === 'email.send', session, ...context },
    }
    return (await gate.call(keys.get(agent) ?? owner, 'POST', '/gate/check', body)).body.data
  }
  const random = dice(7)
  const asked = ASKED.flatMap(([agent, action, context, times]) =>
    Array.from({ length: times }, () => ({ agent, action, context })),
  )
  for (const [i, { agent, action, context }] of shuffled(asked, random).entries()) {
    atMs = beginMs + (DAY_MS - HOUR_MS) * ((i + random()) / asked.length) ** 0.85
    const { approvalId, decision, decisionId } = await check(agent, action, context)
    if (approvalId) {
      atMs += 60_000 + random() * 900_000
      const verb = random() < 0.75 ? 'approve' : 'reject'
      const [voter, approverId] = random() < 0.5 ? [ann, 'ann'] : [bob, 'bob']
      await gate.call(voter, 'POST', `/approvals/${approvalId}/${verb}`, {
        approverId,
        ...(verb === 'approve' ? { comment: 'as agreed' } : { reason: 'not our customer' }),
      })
    }
    if (decision === 'allow')
      await gate.call(keys.get(agent) ?? owner, 'POST', '/gate/outcome', {
        tenantId: 'acme',
        decisionId,
        status: 'succeeded',
      })
  }
  atMs = Date.now() - 40 * 60_000
  await gate.call(operator, 'POST', '/killswitch/trigger', {
    level: 'L2',
    scope: 'communication',
    reason: 'Mails to the wrong customers',
    triggeredBy: 'otto',
  })
  atMs += 11 * 60_000
  await gate.call(operator, 'POST', '/killswitch/recover', {
    recoveredBy: 'otto',
    comment: 'The address list was mended',
  })
  for (const [i, [agent, action, context]] of HELD.entries()) {
    atMs = Date.now() - (HELD.length - i) * 4 * 60_000
    await check(agent, action, context)
  }
  atMs = Number.POSITIVE_INFINITY
  return { gate, owner, ann, operator, auditor }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
