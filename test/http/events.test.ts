import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { openStream } from './sse.ts'

const gate = await startGate({ after })
const agent = await gate.key({ roles: ['agent'] })

test('begin', async (t) => {
  const s = await openStream(t, gate.server.url, agent)
  console.log(s.status, s.headers)
  const t0 = performance.now()
  await gate.call(agent, 'POST', '/gate/check', {
    tenantId: 'acme',
    action: 'payment.transfer',
    context: { amount: 2000 },
  })
  const t1 = performance.now()
  const e = await s.find(({ event }) => event === 'approval.requested')
  console.log(t1 - t0, e.atMs - t1)
  console.log(s.text())
})
