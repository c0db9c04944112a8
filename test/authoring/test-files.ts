import assert from 'node:assert/strict'
import { casesOf } from '../../src/authoring/cases/cases.ts'
import { runCase } from '../../src/authoring/cases/run.ts'
import type { PolicySource } from '../../src/authoring/load/files.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'

/** Loads a folder that must have no fault, and runs its tests, which must pass. Gives the rules that decided. */
export async function assertTestsPass(source: PolicySource) {
  const { set, tests, diagnostics } = loadPolicySet(source)
  assert.deepEqual(diagnostics, [])
  assert.ok(set)
  assert.ok(tests.length > 0, 'there is no test')
  const decided = new Set<string>()
  for (const asked of tests.flatMap(casesOf)) {
    const { judgement, differences } = await runCase(set, asked)
    assert.deepEqual(differences, [], judgement.outcome.reason)
    if (judgement.outcome.rule !== null) decided.add(judgement.outcome.rule)
  }
  return { set, decided }
}

/** The same for a folder of texts without lists. */
export function assertFolderHolds(tenant: string, files: readonly { name: string; text: string }[]) {
  const bytes = files.map(({ name, text }) => ({ name, bytes: Buffer.from(text) }))
  return assertTestsPass({ tenant, files: bytes, lists: new Map(), ignored: [] })
}
