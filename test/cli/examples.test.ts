import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ACME_POLICY, temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN } from './program.ts'

const HOOK = fileURLToPath(new URL('../../examples/policies-pre-commit', import.meta.url))
const TESTS = `apiVersion: gate-sidecar/v1
tenant: acme
contexts: { small: { amount: 5 } }
tests: [{ name: payments, matrix: { actions: [payment.transfer], contexts: [small] }, expect: { decision: allow } }]
`

test('the hook lets a sound change through, with what it means, and stops one that fails a test or a replay', () => {
  const dir = temporaryFolder()
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  symlinkSync(BIN, join(bin, 'gate-sidecar'))
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, GIT_CONFIG_NOSYSTEM: '1', HOME: dir }
  const git = (args: readonly string[], more = {}) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: dir,
      env: { ...env, ...more },
      encoding: 'utf8',
    })
  const commit = (text: string, more = {}) => {
    writeFiles(dir, { 'policies/acme/main.yaml': text })
    git(['add', 'policies'])
    const { status, stdout, stderr } = git(['commit', '-qm', 'change'], more)
    // Git passes on what hooks print in stderr.
    return { status, told: stdout + stderr }
  }
  git(['init', '-q'])
  cpSync(HOOK, join(dir, '.git/hooks/pre-commit'))
  writeFiles(dir, {
    'policies/acme/main.test.yaml': TESTS,
    'requests.jsonl': '{"action": "payment.transfer", "context": {"amount": 950}, "decision": "allow"}\n',
  })
  assert.equal(commit(ACME_POLICY).status, 0)
  const lower = ACME_POLICY.replace('value: 1000}', 'value: 900}')
  const sound = commit(lower)
  assert.deepEqual([sound.status, /rule large: when changed/.test(sound.told)], [0, true], sound.told)
  const denied = ACME_POLICY.replace(
    'id: large, actions: ["payment.*"], effect: require_approval',
    'id: large, actions: ["payment.*"], effect: deny',
  ).replace('value: 1000}', 'value: 900}')
  const replayed = commit(denied, { REPLAY: 'requests.jsonl' })
  assert.deepEqual(
    [replayed.status !== 0, /allow->deny>0: 1, EXCEEDED/.test(replayed.told)],
    [true, true],
    replayed.told,
  )
  assert.notEqual(
    commit(
      ACME_POLICY.replace('id: payments', 'id: pays').replace(
        'effect: allow, reason: Payments',
        'effect: deny, reason: Payments',
      ),
    ).status,
    0,
  )
})
