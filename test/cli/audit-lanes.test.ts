import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyRange } from '../../src/actions/audit/verify-range.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, aTenant, commit, creating, enrolment, LIVE, note, only } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { run } from './program.ts'

const DAY_MS = 86_400_000
const [ONE, TWO] = [laneOf(LIVE, 1), laneOf(LIVE, 2)]
const SECRET = 'DE89370400440532013000'
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const days = { startDate: dayAgo(310), endDate: dayAgo(0) }

interface Scene {
  dir: string
  ids: string[]
}

/** A folder with a trail of two lanes: entries of last year and of today in each, in turns. */
async function laned(): Promise<Scene> {
  const dir = temporaryFolder()
  const time = { ms: Date.now() - 300 * DAY_MS }
  const trail = await openTrail(dir, () => time.ms)
  await commit(trail.store, creating('tenant', aTenant()))
  await commit(trail.store, enrolment())
  const ids: string[] = []
  const grow = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1)
      for (const chain of [LIVE, ONE, TWO]) {
        time.ms += 1
        const entry = note({ iban: SECRET }, { chain })
        ids.push(entry.id)
        await commit(trail.store, only(entry))
      }
  }
  await grow(5)
  await trail.checkpoints.signAll()
  time.ms = Date.now()
  await grow(2)
  await trail.checkpoints.signAll()
  await trail.close()
  return { dir, ids }
}

const scene = await laned()
const audit = (dir: string, ...args: string[]) => run(['audit', ...args, '--data', dir, '--json'])
const listed = async (dir: string, ...args: string[]) =>
  JSON.parse((await audit(dir, 'list', '--tenant', 'acme', '--type', 'custom.note', ...args)).stdout)

test('a trail is listed over its lanes, in order, and a lane by its name', async () => {
  const all = await listed(scene.dir, '--order', 'asc', '--limit', '100')
  assert.deepEqual(
    all.map(({ id }: { id: string }) => id),
    scene.ids,
  )
  const lane = await audit(scene.dir, 'list', '--chain', ONE, '--type', 'custom.note', '--order', 'asc')
  assert.deepEqual(
    JSON.parse(lane.stdout).map(({ id }: { id: string }) => id),
    scene.ids.filter((_, i) => i % 3 === 1),
  )
})

test('days are verified in every lane, and a fault is found in the lane where it is', async () => {
  const { dir } = await laned()
  const trail = await openTrail(dir, Date.now)
  const whole = await verifyRange(trail, LIVE, days)
  assert.deepEqual([whole.valid, whole.status, whole.firstBadChain], [true, 'unanchored', null])
  const chains = await Promise.all([LIVE, ONE, TWO].map((chain) => trail.store.entriesFrom(chain, 0, 100)))
  const entries = chains.flat().sort((a, b) => (a.header.ts < b.header.ts ? -1 : 1))
  assert.equal(whole.entriesChecked, entries.length)
  assert.deepEqual([whole.firstEntry, whole.lastEntry], [entries[0]?.header.id, entries.at(-1)?.header.id])
  await trail.close()
  tamper(dir, (db) =>
    db.prepare("UPDATE section SET json = '{}' WHERE chain = ? AND seq = 3 AND name = 'data'").run(TWO),
  )
  const altered = await openTrail(dir, Date.now, 'nothing')
  const found = await verifyRange(altered, LIVE, days)
  assert.deepEqual([found.status, found.firstBadChain, found.firstBadSeq], ['tampered', TWO, 3])
  await altered.close()
})

test('a lane that was signed and is gone is missing from its trail', async () => {
  const { dir } = await laned()
  tamper(dir, (db) => db.prepare('DELETE FROM entry WHERE chain = ?').run(ONE))
  const trail = await openTrail(dir, Date.now, 'nothing')
  const found = await verifyRange(trail, LIVE, days)
  assert.deepEqual([found.valid, found.status, found.firstBadChain], [false, 'truncated', ONE])
  await trail.close()
})

test('an export has a folder for each lane, and each verifies', async () => {
  const out = join(temporaryFolder(), 'out')
  const { stdout } = await audit(scene.dir, 'export', '--tenant', 'acme', '--out', out)
  const data = JSON.parse(stdout)
  assert.deepEqual(
    [data, ...data.lanes].map(({ chain, folder }) => [chain, folder]),
    [
      [LIVE, out],
      [ONE, join(out, 'lane-1')],
      [TWO, join(out, 'lane-2')],
    ],
  )
  const trust = join(temporaryFolder(), 'trust.json')
  assert.equal((await run(['signing-keys', 'export-trust', '--out', trust, '--data', scene.dir])).code, 0)
  for (const { folder } of [data, ...data.lanes])
    assert.equal((await run(['evidence', 'verify', folder, '--trust', trust])).code, 0, folder)
})

test('old content is erased in every lane, and an entry where it stands', async () => {
  const { dir, ids } = await laned()
  const one = await audit(dir, 'redact', '--tenant', 'acme', '--entry', ids.at(-2) ?? '', '--reason', 'asked')
  assert.equal(JSON.parse(one.stdout).entries, 1, one.stderr)
  const old = await audit(dir, 'redact', '--tenant', 'acme', '--before', dayAgo(200), '--reason', 'old')
  assert.equal(JSON.parse(old.stdout).entries, 15, old.stderr)
  const kept = (await listed(dir, '--limit', '100')).filter(({ data }: { data: unknown }) => data !== null)
  assert.equal(kept.length, 5)
  assert.equal((await audit(dir, 'verify')).code, 0)
})

test('old entries of every lane go into a folder of it, and what is left verifies', async () => {
  const { dir } = await laned()
  const archive = join(temporaryFolder(), 'archive')
  const { stdout, stderr } = await audit(
    ...[dir, 'prune', '--tenant', 'acme', '--before', dayAgo(200), '--archive', archive, '--reason', 'kept for a year'],
  )
  const data = JSON.parse(stdout)
  assert.deepEqual(
    data.lanes.map(({ chain, first, end }: { chain: string; first: number; end: number }) => [chain, first, end]),
    [
      [ONE, 0, 6],
      [TWO, 0, 6],
    ],
    stderr,
  )
  for (const { archive: folder } of [data, ...data.lanes]) assert.ok(existsSync(join(folder, 'manifest.json')), folder)
  assert.equal((await listed(dir, '--limit', '100')).length, 6)
  assert.equal((await audit(dir, 'verify')).code, 0)
})

test('a decision of a lane is shown with its lane, by the trail that it belongs to', async () => {
  const { dir } = await laned()
  const decided = aDecision('allow')
  const trail = await openTrail(dir, Date.now)
  await commit(trail.store, { guards: [], writes: [], entries: [{ ...decided, chain: TWO }] })
  await trail.close()
  const shown = await run(['decisions', 'show', decided.decision.id, '--data', dir, '--json'])
  assert.equal(JSON.parse(shown.stdout).chain, TWO, shown.stderr)
})
