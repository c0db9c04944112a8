import assert from 'node:assert/strict'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/base/json.ts'
import { judge } from '../../src/gate/judge.ts'
import { loadPolicySet } from '../../src/policy/load.ts'

interface TestFile {
  contexts: Record<string, JsonObject>
  tests: {
    name: string
    matrix: { actions: string[]; contexts: string[] }
    expect: { decision: string; rule?: string | null; decidedBy?: string }
  }[]
}

/** Loads a folder that must have no fault, and asks what each of its tests asks. Gives the rules that decided. */
export async function assertFolderHolds(tenant: string, files: readonly { name: string; text: string }[]) {
  const source = files.map(({ name, text }) => ({ name, bytes: Buffer.from(text) }))
  const { set, diagnostics } = loadPolicySet({ tenant, files: source, lists: new Map(), ignored: [] })
  assert.deepEqual(diagnostics, [])
  const text = files.find(({ name }) => name.includes('.test.'))?.text ?? assert.fail('there is no test file')
  const { contexts, tests }: TestFile = parse(text)
  const decided = new Set<string>()
  for (const { name, matrix, expect } of tests) {
    for (const action of matrix.actions) {
      for (const key of matrix.contexts) {
        const { outcome } = await judge({
          set,
          killSwitchReason: undefined,
          tenant,
          environment: 'live',
          agent: 'agent',
          nowMs: 0,
          action,
          context: contexts[key] ?? assert.fail(key),
          plan: undefined,
        })
        assert.equal(outcome.decision, expect.decision, `${name}: ${action}: ${outcome.reason}`)
        if (expect.rule !== undefined) assert.equal(outcome.rule, expect.rule, name)
        if (expect.decidedBy !== undefined) assert.equal(outcome.decidedBy, expect.decidedBy, name)
        if (outcome.rule !== null) decided.add(outcome.rule)
      }
    }
  }
  return { set: set ?? assert.fail(), decided }
}
