import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ID_RANDOM_BYTES, makeId } from '../../src/base/id.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { grow } from '../audit/trail.ts'
import { temporaryFolder } from '../helpers.ts'
import { aTenant, commit, creating, enrolment, note, only } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { run } from './program.ts'

const DAY_MS = 86_400_000
const SECRET = 'DE89370400440532013000'
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** A folder with entries of last year and of today. */
async function oldFolder(): Promise<string> {
  const dir = temporaryFolder()
  const time = { ms: Date.now() - 300 * DAY_MS }
  const trail = await openTrail(dir, () => time.ms)
  await commit(trail.store, creating('tenant', aTenant()))
  await commit(trail.store, enrolment())
  await commit(trail.store, only(note({ iban: SECRET })))
  await grow(trail, 399)
  time.ms = Date.now()
  await grow(trail, 10)
  await trail.close()
  return dir
}

const reason = ['--reason', 'kept for half a year']
const prune = (dir: string, ...args: string[]) =>
  run(['audit', 'prune', '--tenant', 'acme', '--data', dir, ...reason, ...args])

test('old entries go into a folder that verifies, and out of the data file, which verifies too', async () => {
  const dir = await oldFolder()
  const out = join(temporaryFolder(), 'archive')
  const pruned = await prune(dir, '--before', dayAgo(200), '--archive', out)
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.match(pruned.stdout, /^Moved 402 entries of acme\/live from the data file to .*archive\./)
  assert.deepEqual(readdirSync(out).sort(), [
    'VERIFY.md',
    'checkpoint.txt',
    'entries.csv',
    'entries.jsonl',
    'manifest.json',
  ])
  assert.equal(readFileSync(join(out, 'entries.jsonl'), 'utf8').includes(SECRET), true)
  for (const name of readdirSync(dir)) assert.equal(readFileSync(join(dir, name)).includes(SECRET), false, name)

  const trust = join(temporaryFolder(), 'trust.json')
  assert.equal((await run(['signing-keys', 'export-trust', '--out', trust, '--data', dir])).code, 0)
  assert.equal((await run(['evidence', 'verify', out, '--trust', trust])).code, 0)
  const verified = await run(['audit', 'verify', '--data', dir, '--json'])
  assert.equal(verified.code, 0, verified.stdout)

  const year = await run([
    'audit',
    'verify',
    '--chain',
    'acme/live',
    '--from',
    dayAgo(310),
    '--to',
    dayAgo(0),
    '--data',
    dir,
  ])
  assert.deepEqual([year.code, /PRUNED +the entries before 402 were pruned/.test(year.stdout)], [1, true], year.stdout)
  const whole = await run(['audit', 'export', '--tenant', 'acme', '--data', dir, '--out', join(out, 'rest')])
  assert.match(whole.stdout, /^Exported 11 entries/, whole.stderr)
  const gone = ['--from', dayAgo(310), '--to', dayAgo(0), '--out', join(out, 'gone')]
  const refused = await run(['audit', 'export', '--tenant', 'acme', '--data', dir, ...gone])
  assert.match(refused.stderr, /The entries before 402 were pruned; read them from their archive\./)
})

test('the command line tells a decision that may be archived from one that never was', async () => {
  const dir = await oldFolder()
  await prune(dir, '--before', dayAgo(200), '--archive', join(temporaryFolder(), 'archive'))
  const idOf = (daysAgo: number): string =>
    makeId('decision', Date.now() - daysAgo * DAY_MS, randomBytes(ID_RANDOM_BYTES))
  for (const command of [['evidence', 'export'], ['decisions', 'show'], ['explain']]) {
    const [old, young] = [
      await run([...command, idOf(301), '--data', dir]),
      await run([...command, idOf(1), '--data', dir]),
    ]
    assert.match(old.stderr, /Decisions of acme\/live up to .* were archived and deleted here\. Entries 0 to 401 are/)
    assert.match(young.stderr, /There is no decision dec_/)
    assert.deepEqual([old.code, young.code], [3, 3], command.join(' '))
  }
})

test('where there is nothing to prune, nothing is written and the exit code says so', async () => {
  const dir = await oldFolder()
  const out = join(temporaryFolder(), 'archive')
  const { code, stdout } = await prune(dir, '--before', dayAgo(301), '--archive', out)
  assert.deepEqual([code, /^Nothing of acme\/live can be pruned/.test(stdout)], [1, true], stdout)
  assert.throws(() => readdirSync(out))
})

const REFUSALS: [what: string, args: (dir: string) => string[], stderr: RegExp][] = [
  ['no day', () => ['--before', '2026-02-30', '--archive', 'x'], /--before: 2026-02-30 is not a day/],
  [
    'a reason that is too long',
    () => ['--before', dayAgo(200), '--archive', 'x', '--reason', 'r'.repeat(1025)],
    /at most 1024 characters/,
  ],
  ['a day too near', () => ['--before', dayAgo(20), '--archive', 'x'], /younger than 90 days/],
  ['a folder with an archive', (dir) => ['--before', dayAgo(200), '--archive', dir], /entries\.jsonl|exist/],
]
test('what cannot be pruned is refused before anything is deleted', async (t) => {
  const dir = await oldFolder()
  const full = join(temporaryFolder(), 'full')
  assert.equal((await run(['audit', 'export', '--tenant', 'acme', '--data', dir, '--out', full])).code, 0)
  for (const [what, args, stderr] of REFUSALS) {
    await t.test(what, async () => {
      const refused = await prune(dir, ...args(full))
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, stderr)
      tamper(dir, (db) => assert.equal(db.prepare('SELECT count(*) FROM entry WHERE seq = 0').pluck().get(), 2))
    })
  }
  assert.equal(readdirSync(dir).includes(DATA_FILE), true)
})
