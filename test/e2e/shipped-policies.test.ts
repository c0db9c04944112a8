import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/base/json.ts'
import { readPolicyFolders } from '../../src/files/policies.ts'
import { judge } from '../../src/gate/judge.ts'
import { loadPolicySet } from '../../src/policy/load.ts'
import type { PolicySet } from '../../src/policy/set.ts'

const ROOT = new URL('../../policies/', import.meta.url)

interface Wanted {
  decision: string
  rule?: string | null
  decidedBy?: string
  risk?: { score?: number; max?: number }
  action?: string
}

interface Case {
  name: string
  now?: string
  matrix: { actions: string[]; contexts: string[]; agents?: string[] }
  expect: Wanted | Wanted[] | Record<string, Wanted>
}

interface TestFile {
  now: string
  agents: Record<string, { identity: string; environment: 'live' | 'test' }>
  contexts: Record<string, JsonObject>
  tests: Case[]
}

const folders = readPolicyFolders(fileURLToPath(ROOT))
const sets = new Map<string, PolicySet>()

for (const { tenant, source } of folders) {
  test(`the policies of ${tenant}: no error, no warning`, () => {
    assert.ok('files' in source)
    const { set, diagnostics } = loadPolicySet(source)
    assert.deepEqual(diagnostics, [])
    assert.ok(set)
    sets.set(tenant, set)
  })
}

const tenants = ['acme', 'demo']

test('every shipped policy set has a test file', () => {
  assert.deepEqual(folders.map(({ tenant }) => tenant).sort(), tenants)
})

for (const tenant of tenants) {
  const file: TestFile = parse(readFileSync(new URL(`${tenant}/${tenant}.test.yaml`, ROOT), 'utf8'))
  const decided = new Set<string>()
  for (const { name, now = file.now, matrix, expect } of file.tests) {
    for (const action of matrix.actions) {
      for (const context of matrix.contexts) {
        for (const agent of matrix.agents ?? Object.keys(file.agents).slice(0, 1)) {
          test(`${tenant}: ${name}: ${action}, ${context}, ${agent}`, async () => {
            const wanted = wantedOf(expect, action, context)
            assert.ok(wanted, 'nothing is expected')
            const rule = await assertDecision(wanted, { tenant, file, action, context, agent, now })
            if (rule !== null) decided.add(rule)
          })
        }
      }
    }
  }
  test(`${tenant}: every rule decides at least one of these cases`, () => {
    const rules = sets.get(tenant)?.rules.map(({ id }) => id) ?? []
    assert.ok(rules.length > 5)
    assert.deepEqual(
      rules.filter((id) => !decided.has(id)),
      [],
    )
  })
}

function wantedOf(expect: Case['expect'], action: string, context: string): Wanted | undefined {
  if (Array.isArray(expect)) return expect.find((one) => one.action === action)
  // One expectation for all, or one by name of the context.
  return typeof expect.decision === 'string' ? (expect as Wanted) : (expect as Record<string, Wanted>)[context]
}

interface Asked {
  tenant: string
  file: TestFile
  action: string
  context: string
  agent: string
  now: string
}

/** The rule that decided. */
async function assertDecision(wanted: Wanted, asked: Asked): Promise<string | null> {
  const { tenant, file } = asked
  const { identity, environment } = file.agents[asked.agent] ?? assert.fail(asked.agent)
  const { outcome, risk } = await judge({
    set: sets.get(tenant),
    killSwitchReason: undefined,
    tenant,
    environment,
    agent: identity,
    nowMs: Date.parse(asked.now),
    action: asked.action,
    context: file.contexts[asked.context] ?? assert.fail(asked.context),
    plan: undefined,
  })
  assert.equal(outcome.decision, wanted.decision, outcome.reason)
  if (wanted.rule !== undefined) assert.equal(outcome.rule, wanted.rule, outcome.reason)
  if (wanted.decidedBy !== undefined) assert.equal(outcome.decidedBy, wanted.decidedBy, outcome.reason)
  if (wanted.risk?.score !== undefined) assert.equal(risk.score, wanted.risk.score)
  if (wanted.risk?.max !== undefined) assert.ok(risk.score <= wanted.risk.max, `risk ${risk.score}`)
  return outcome.rule
}
