import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { askOverHttp } from '../../evaluation/ask.ts'
import { callsOf, readCorpus, type Session } from '../../evaluation/corpus.ts'
import { type Decided, replay } from '../../evaluation/replay.ts'
import { agentKeys } from '../../evaluation/sidecar.ts'
import { run, serve } from '../cli/program.ts'
import { CORPUS } from '../evaluation/support.ts'
import { temporaryFolder } from '../helpers.ts'

const POLICIES = fileURLToPath(new URL('../testdata/replay/policies/', import.meta.url))
const CALLS = 5092

/** Decisions of the policies under testdata/replay. A changed number is a change of meaning somewhere. */
const DECISIONS: Record<string, Record<string, number>> = {
  agentdojo: { allow: 2554, deny: 9, require_approval: 275 },
  agentdyn: { allow: 1300, deny: 19, require_approval: 182 },
  injecagent: { allow: 84, deny: 37, require_approval: 99 },
  'tau-bench': { allow: 504, deny: 8, require_approval: 21 },
}

test('recorded calls of real agents: each is decided, and the chain of each tenant verifies', async (t) => {
  const data = join(temporaryFolder(), 'data')
  const made = await run(['keys', 'create', '--role', 'admin', '--data', data, '--json'])
  const { key }: { key: string } = JSON.parse(made.stdout)
  for (const tenant of Object.keys(DECISIONS)) {
    const { code } = await run(['tenants', 'create', tenant, '--data', data])
    assert.equal(code, 0)
  }
  const server = await serve(t, ['--port', '0', '--data', data, '--policies', POLICIES])
  const corpus = readCorpus(CORPUS)
  const { sessions } = corpus
  const keys = await agentKeys(server.url, key, callsOf(corpus))

  const startedMs = performance.now()
  const decided = await replay(sessions, askOverHttp(server.url, keys), { concurrency: 8, progress: () => undefined })
  const seconds = (performance.now() - startedMs) / 1000
  t.diagnostic(`${decided.length} calls in ${seconds.toFixed(1)} s, ${Math.round(decided.length / seconds)} a second`)

  assert.equal(decided.length, CALLS)
  assert.deepEqual(countDecisions(sessions, decided), DECISIONS)

  const checked = new Map<string, number>()
  for (const tenant of Object.keys(DECISIONS)) checked.set(tenant, await verifyOverHttp(server.url, key, tenant))
  assert.deepEqual(await server.stop(), { code: 0, signal: null })
  const verified = await run(['audit', 'verify', '--data', data, '--json'])
  assert.equal(verified.code, 0, verified.stderr)
  const { valid, chains }: { valid: boolean; chains: { chain: string; entriesChecked: number }[] } = JSON.parse(
    verified.stdout,
  )
  assert.equal(valid, true)
  for (const [tenant, entriesChecked] of checked) {
    assert.equal(chains.find(({ chain }) => chain === `${tenant}/live`)?.entriesChecked, entriesChecked)
    const decisions = Object.values(DECISIONS[tenant] ?? {}).reduce((sum, n) => sum + n, 0)
    assert.ok(entriesChecked > decisions, `${tenant}: ${entriesChecked} entries for ${decisions} decisions`)
  }
})

function countDecisions(sessions: readonly Session[], decided: readonly Decided[]): typeof DECISIONS {
  const sources = new Map(sessions.flatMap(({ source, calls }) => calls.map(({ id }) => [id, source])))
  const counts: typeof DECISIONS = {}
  for (const { id, decision } of decided) {
    const source = sources.get(id) ?? ''
    const ofSource = counts[source] ?? {}
    counts[source] = { ...ofSource, [decision]: (ofSource[decision] ?? 0) + 1 }
  }
  return counts
}

/** POST /audit/verify over every day; how many entries it read. */
async function verifyOverHttp(url: string, key: string, tenant: string): Promise<number> {
  const response = await fetch(`${url}/audit/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': tenant },
    body: JSON.stringify({ startDate: '2000-01-01', endDate: '2999-12-31' }),
  })
  const { data }: { data: { valid: boolean; entriesChecked: number } } = JSON.parse(await response.text())
  assert.equal(response.status, 200)
  assert.equal(data.valid, true)
  return data.entriesChecked
}
