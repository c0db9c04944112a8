import assert from 'node:assert/strict'
import fc from 'fast-check'
import { approve, reject } from '../../src/actions/approvals/approvals.ts'
import { redact } from '../../src/actions/audit/redact.ts'
import { exportBundle } from '../../src/actions/evidence/evidence.ts'
import { check } from '../../src/actions/gate/check.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { checkpointOf } from '../evidence/forge.ts'
import { HOST, type World } from './histories.ts'
import { type Command, command, pick } from './histories-command.ts'
import * as m from './histories-model.ts'
import { backsUp, prunes, putsBack, restarts, rotates, settles } from './histories-outages.ts'

type Model = m.Model

async function ask(model: Model, { life }: World, tenant: string, action: string, context: JsonObject) {
  const agent = model.stored.agents.get(tenant) ?? assert.fail()
  return check(life, life.caller(agent), { tenantId: tenant, action, context })
}

export const checks = (tenant: string) =>
  command(`check(${tenant})`, {
    needs: ({ stored }) => stored.agents.has(tenant),
    writes: true,
    async run(model, world) {
      const { decisionId: id } = await ask(model, world, tenant, 'email.send', { text: `${world.nowMs}` })
      const chain = `${tenant}/live`
      const seq = m.append(model, chain)
      model.stored.decisions.push({ id, chain, seq, isRequestErased: false, approval: null })
    },
  })

export const holds = command('hold', {
  writes: true,
  async run(model, world) {
    const amount = 2000 + m.newToken()
    const answer = await ask(model, world, 'acme', 'payment.transfer', { amount })
    const seq = m.append(model, m.LIVE, 2) - 1
    const { decisions, approvals } = model.stored
    decisions.push({ id: answer.decisionId, chain: m.LIVE, seq, isRequestErased: false, approval: null })
    const id = answer.approvalId ?? assert.fail('it is held')
    approvals.push({ id, amount, status: 'pending', seqs: [seq + 1], isErased: false })
  },
})

const withStatus = ({ stored }: Model, status: m.ModelApproval['status']): m.ModelApproval[] =>
  stored.approvals.filter((one) => one.status === status)

export const votes = (n: number, isFor: boolean) =>
  command(isFor ? `approve(${n})` : `reject(${n})`, {
    needs: (model) => withStatus(model, 'pending').length > 0,
    writes: true,
    async run(model, { life }) {
      const approval = pick(withStatus(model, 'pending'), n)
      const body = { tenantId: 'acme', approverId: 'ann' }
      await (isFor ? approve : reject)(life, life.caller(model.ann), approval.id, body)
      approval.status = isFor ? 'approved' : 'over'
      approval.seqs.push(m.append(model, m.LIVE))
    },
  })

export const uses = (n: number) =>
  command(`use(${n})`, {
    needs: (model) => withStatus(model, 'approved').length > 0,
    writes: true,
    async run(model, world) {
      const approval = pick(withStatus(model, 'approved'), n)
      const answer = await ask(model, world, 'acme', 'payment.transfer', { amount: approval.amount })
      assert.deepEqual([answer.decision, answer.approvalId], ['allow', approval.id])
      const seq = m.append(model, m.LIVE, 2) - 1
      model.stored.decisions.push({
        id: answer.decisionId,
        chain: m.LIVE,
        seq,
        isRequestErased: false,
        approval: approval.id,
      })
      approval.status = 'over'
      approval.seqs.push(seq + 1)
    },
  })

export const arrives = command('another tenant', {
  needs: ({ stored }) => !stored.agents.has('late'),
  writes: true,
  async run(model, world) {
    const id = await world.key('late', ['agent'], 'bot')
    m.append(model, m.SYSTEM)
    m.append(model, 'late/live', 2)
    model.stored.agents.set('late', id)
  },
})

export const signs = command('checkpoint', {
  writes: true,
  async run(model, world) {
    await world.life.checkpoints.signAll()
    m.sign(model, model.stored.chains.keys())
    await world.deliver()
    m.deliver(model)
  },
})

export const waits = (seconds: number) =>
  command(`wait(${seconds} s)`, {
    async run(model, world) {
      world.nowMs += seconds * 1000
      model.nowMs = world.nowMs
      await world.tend()
      if (model.isSuspended) return
      m.signDue(model)
      m.deliver(model)
    },
  })

export const exports = (n: number) =>
  command(`export(${n})`, {
    needs: ({ stored }) => stored.decisions.length > 0,
    // A bundle key is made in each life of the service, and recorded.
    writes: true,
    async run(model, { life }) {
      const { stored } = model
      const decision = pick(stored.decisions, n)
      const { id, chain, seq } = decision
      const bundle = await exportBundle(life, chain, id)
      if (m.signedOf(stored, chain) <= seq) m.sign(model, [chain])
      const { token } = m.keyInUse(stored)
      if (model.bundleKey?.token !== token) {
        m.append(model, m.SYSTEM)
        model.bundleKey = { token, sinceMs: model.nowMs }
      }
      const covering = stored.checkpoints.find((one) => one.chain === chain && one.size > seq) ?? assert.fail()
      assert.equal(checkpointOf(bundle).size, covering.size)
      const redacted = m.redactedOf(model, decision)
      assert.deepEqual(bundle.proof.redacted, redacted)
      assert.equal('action' in bundle.context.originalRequest, !redacted.includes('request'))
      const isShown = decision.approval !== null && !redacted.includes('approval')
      assert.equal(bundle.proof.approval.length, isShown ? 2 : 0, 'the request and the one vote')
      const { last, key: signedBy } = covering
      model.exported.push({
        bundle,
        chain,
        decision: id,
        last,
        keys: [...stored.keys],
        certifiedMs: model.bundleKey.sinceMs,
        decidedMs: stored.chains.get(chain)?.[seq]?.atMs ?? assert.fail(),
        signedBy,
      })
    },
  })

export const erases = (from: number, to: number) =>
  command(`redact(${from}..${to} %)`, {
    writes: true,
    needs: (model) => erasableOf(model, from, to).sections > 0,
    async run(model, { life }) {
      const { first, end, decisions, approvals, ...expected } = erasableOf(model, from, to)
      const done = await redact(life, HOST, { chain: m.LIVE, first, end, reason: 'asked for' })
      assert.deepEqual(done, { ...expected, approvals: approvals.length })
      for (const decision of decisions) decision.isRequestErased = true
      for (const approval of approvals) approval.isErased = true
      m.append(model, m.LIVE)
    },
  })

function erasableOf({ stored }: Model, from: number, to: number) {
  const [first, end] = [from, to].map((percent) => Math.ceil((percent * m.lengthOf(stored, m.LIVE)) / 100)) as [
    number,
    number,
  ]
  const isWithin = (seq: number): boolean => first <= seq && seq < end
  const decisions = stored.decisions.filter((one) => one.chain === m.LIVE && isWithin(one.seq) && !one.isRequestErased)
  const touched = stored.approvals.filter(({ seqs, isErased }) => !isErased && seqs.some(isWithin))
  const approvals = touched.filter(({ status }) => status === 'over')
  const entries = approvals.reduce((sum, { seqs }) => sum + seqs.length, decisions.length)
  const sections = 2 * entries - decisions.length
  return { first, end, decisions, approvals, entries, sections, kept: touched.length - approvals.length }
}

const any = fc.nat({ max: 1000 })
const percent = fc.nat({ max: 100 })

/** A new command is an action as above, and a line here. What is said more often comes more often. */
export const COMMANDS: fc.Arbitrary<Command>[] = [
  fc.constantFrom(checks('acme'), checks('acme'), checks('late'), holds, holds, arrives),
  fc.tuple(any, fc.boolean()).map(([n, isFor]) => votes(n, isFor)),
  any.map(uses),
  fc.constantFrom(signs, signs, rotates, backsUp, backsUp),
  fc.constantFrom(m.LIVE, m.SYSTEM).map(prunes),
  any.map(exports),
  fc.tuple(percent, percent).map(([a, b]) => erases(Math.min(a, b), Math.max(a, b))),
  fc.oneof(fc.constantFrom(1, 6, 12).map(waits), fc.boolean().map(restarts)),
  fc.tuple(any, fc.boolean()).map(([n, isClean]) => putsBack(n, isClean)),
  fc.constant(settles),
]
