import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused } from './support.ts'

const gate = await startGate({ after })
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
let amount = 2000

async function hold(): Promise<string> {
  amount += 1
  const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
  return (await gate.call(agent, 'POST', '/gate/check', body)).body.data.approvalId
}
const approve = (id: string) =>
  gate.call(approver, 'POST', `/approvals/${id}/approve`, { tenantId: 'acme', approverId: 'x' })

test('a key waits with 32 readers at most; another key and a look without waiting are not held up', async () => {
  const id = await hold()
  const path = `/approvals/${id}?wait=20`
  const waiting = Array.from({ length: 32 }, () => gate.call(agent, 'GET', path))
  const deadline = performance.now() + 15_000
  // Requests come in over several connections, so the 33rd may be there before the 32nd.
  const extra = await Promise.race([
    (async () => {
      for (;;) {
        const answer = await gate.call(agent, 'GET', `/approvals/${id}?wait=1`)
        if (answer.status !== 200 || performance.now() > deadline) return answer
      }
    })(),
    ...waiting,
  ])
  assertRefused(extra, 'overloaded')
  assert.match(extra.body.message, /32/)
  assertDone(await gate.call(agent, 'GET', `/approvals/${id}`))
  assertDone(await gate.call(approver, 'GET', `/approvals/${id}?wait=1`))
  assertDone(await approve(id))
  // The 33rd may have taken the place of one of them.
  const refused = (await Promise.all(waiting)).filter(({ status }) => status !== 200)
  assert.ok(refused.length <= 1)
  for (const answer of refused) assertRefused(answer, 'overloaded')
  assertDone(await gate.call(agent, 'GET', `/approvals/${await hold()}?wait=1`))
})

test('who waits reads the approval at the start and at the end', async () => {
  const id = await hold()
  const { store } = gate.server
  const { approval } = store
  let reads = 0
  store.approval = (asked) => {
    reads += 1
    return approval(asked)
  }
  assertDone(await gate.call(agent, 'GET', `/approvals/${id}?wait=2`))
  store.approval = approval
  assert.equal(reads, 2)
})
