import assert from 'node:assert/strict'
import { test } from 'node:test'
import { METRICS, PREFIX } from '../src/service/metric-table.ts'
import { startGate } from './helpers.ts'

test('each metric has an alert that asks for it, or for what says the same', () => {
  const known = Object.keys(METRICS)
  for (const [name, { type, alert }] of Object.entries(METRICS)) {
    const asked = Array.from(alert.when.matchAll(/gate_sidecar_(\w+)/g), ([, found = '']) => found)
    assert.deepEqual(
      asked.map((found) => found.replace(/_bucket$/, '')),
      [name],
    )
    assert.equal(type === 'counter', name.endsWith('_total'))
    assert.ok(known.includes(name))
  }
})

test('what is measured has the names, types and meanings of the table, and names no tenant', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key({ tenant: 'acme' })
  await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  const text = await (await fetch(`${gate.server.url}/metrics`)).text()
  const types = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type]) => [name, type])
  for (const [name, type] of types)
    assert.equal(METRICS[name?.replace(PREFIX, '') as keyof typeof METRICS].type, type, name)
  assert.ok(types.length > 8)
  assert.doesNotMatch(text, /acme/)
})
