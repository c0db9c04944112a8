import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsWithoutKeys } from '../../src/approvals/unstaffed.ts'
import { setOf } from '../authoring/sources.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { at } from '../killswitch/stops.ts'
import { keyOf } from './records.ts'

const hold = (id: string, groups: string): string =>
  `  - {id: ${id}, actions: [${id}], effect: require_approval, reason: R., approval: {approvers: [${groups}]}}\n`
const RULES = `rules:\n${hold('a', 'treasury')}${hold('b', 'audit, board')}`
const NOW_MS = Date.parse(at(10))

const CASES: { name: string; keys: Parameters<typeof keyOf>[1][]; missing: string[] }[] = [
  { name: 'no keys', keys: [], missing: ['audit', 'board', 'treasury'] },
  { name: 'a key for each hold', keys: [{ groups: ['treasury'] }, { groups: ['board'] }], missing: [] },
  { name: 'one of several groups is enough', keys: [{ groups: ['treasury', 'audit'] }], missing: [] },
  {
    name: 'a key without the role',
    keys: [{ groups: ['treasury', 'audit'], roles: ['agent'] }],
    missing: ['audit', 'board', 'treasury'],
  },
  { name: 'an owner', keys: [{ groups: ['treasury', 'audit'], roles: ['owner'] }], missing: [] },
  {
    name: 'an admin of all tenants',
    keys: [{ groups: ['treasury', 'audit'], roles: ['admin'], tenantId: null }],
    missing: [],
  },
  {
    name: 'a key of another tenant',
    keys: [{ groups: ['treasury'], tenantId: 'other' }, { groups: ['audit'] }],
    missing: ['treasury'],
  },
  {
    name: 'a revoked key',
    keys: [{ groups: ['treasury'], revokedAt: at(5) }, { groups: ['audit'] }],
    missing: ['treasury'],
  },
  {
    name: 'a key that has expired',
    keys: [{ groups: ['treasury'], expiresAt: at(5) }, { groups: ['audit'] }],
    missing: ['treasury'],
  },
]
for (const { name, keys, missing } of CASES) {
  test(`groups without keys: ${name}`, () => {
    const all = keys.map((change, i) => keyOf(`key_${i}`, change))
    assert.deepEqual(groupsWithoutKeys(setOf(RULES), all, NOW_MS), missing)
  })
}

test('groups without keys: only holds ask for approvers', () => {
  const set = setOf('approval: {approvers: [treasury]}\nrules: [{id: a, actions: [x], effect: allow, reason: R.}]\n')
  assert.deepEqual(groupsWithoutKeys(set, [], NOW_MS), [])
})

test('GET /policies names the groups of the set in force that lack a key, until there is one', async (t) => {
  const dir = temporaryFolder()
  const text = `apiVersion: gate-sidecar/v1\ntenant: acme\n${RULES}`
  const gate = await startGate(t, { dir, policies: { 'acme/main.yaml': text } })
  const owner = await gate.key({ roles: ['owner'] })
  const told = async () => (await gate.call(owner, 'GET', '/policies')).body.data.groupsWithoutKeys
  assert.deepEqual(await told(), ['audit', 'board', 'treasury'])
  await gate.key({ roles: ['approver'], groups: ['treasury', 'audit'] })
  assert.deepEqual(await told(), [])
})
