import assert from 'node:assert/strict'
import { appendFileSync, cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyRange } from '../../src/actions/audit/verify-range.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { byPython, ours } from '../evidence/python.ts'
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

/** A trust file of the keys of a folder. */
async function trustIn(dir: string): Promise<string> {
  const trust = join(temporaryFolder(), 'trust.json')
  assert.equal((await run(['signing-keys', 'export-trust', '--out', trust, '--data', dir])).code, 0)
  return trust
}

test('a trail is listed over its lanes, in order, and a lane by its name', async () => {
  const all = await listed(scene.dir, '--order', 'asc', '--limit', '100')
  assert.deepEqual(
    all.map(({ id }: { id: string }) => id),
    scene.ids,
  )
  const { stdout: shown } = await run(['audit', 'list', '--tenant', 'acme', '--data', scene.dir, '--limit', '3'])
  const places = [...shown.matchAll(/^ *(\S+) +\d{4}-/gm)].map(([, place]) => place)
  assert.deepEqual(places, ['~2:7', '~1:7', '8'])
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

test('an export has a folder for each lane, and verifies as a whole', async () => {
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
  const trust = await trustIn(scene.dir)
  const lanesOf = async (folder: string) => {
    const { code, stdout } = await run(['evidence', 'verify', folder, '--trust', trust, '--json'])
    const verified = JSON.parse(stdout)
    const inPython = { evidence: folder, trust: readFileSync(trust, 'utf8'), now: new Date().toISOString() }
    assert.deepEqual(await byPython([inPython]), [ours(verified)], folder)
    const { result, why } = verified.checks.find(({ check }: { check: string }) => check === 'lanes') ?? {}
    return { code, result, why, chains: verified.lanes.map(({ chain }: { chain: string }) => chain) }
  }
  assert.deepEqual(await lanesOf(out), { code: 0, result: 'ok', why: null, chains: [ONE, TWO] })
  assert.equal((await lanesOf(join(out, 'lane-2'))).code, 0)
  assert.match(readFileSync(join(out, 'VERIFY.md'), 'utf8'), /lane-\*.*2 lanes/)

  for (const [name, change, why] of LANE_CHANGES) {
    const changed = join(temporaryFolder(), 'changed')
    cpSync(out, changed, { recursive: true })
    change(changed)
    const found = await lanesOf(changed)
    assert.deepEqual([found.code, found.result], [1, 'failed'], name)
    assert.match(found.why, why, name)
  }
})

const inLane = (folder: string, file = 'manifest.json') => join(folder, 'lane-1', file)
const LANE_CHANGES: [name: string, change: (folder: string) => void, why: RegExp][] = [
  ['a lane that is gone', (folder) => rmSync(join(folder, 'lane-1'), { recursive: true }), /live~1: .*not as it was/],
  ['a manifest of another export', (folder) => appendFileSync(inLane(folder), ' '), /live~1: .*not as it was/],
  ['another lane', (folder) => cpSync(inLane(folder, '../lane-2'), inLane(folder, '.'), { recursive: true }), /live~1/],
  [
    'entries that were changed',
    (folder) => appendFileSync(inLane(folder, 'entries.jsonl'), '{}\n'),
    /live~1: .*entries/,
  ],
]

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
  assert.equal((await run(['evidence', 'verify', archive, '--trust', await trustIn(dir)])).code, 0)
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(archive, 'manifest.json'), 'utf8')).lanes), ['1', '2'])
  assert.equal((await listed(dir, '--limit', '100')).length, 6)
  assert.equal((await audit(dir, 'verify')).code, 0)
})

test('a decision of a lane is shown with its lane, and has evidence that verifies', async () => {
  const { dir } = await laned()
  const decided = aDecision('allow')
  const trail = await openTrail(dir, Date.now)
  await commit(trail.store, { guards: [], writes: [], entries: [{ ...decided, chain: TWO }] })
  await trail.close()
  const shown = await run(['decisions', 'show', decided.decision.id, '--data', dir, '--json'])
  assert.equal(JSON.parse(shown.stdout).chain, TWO, shown.stderr)
  const folder = temporaryFolder()
  for (const form of [[], ['--dsse']]) {
    const file = join(folder, `bundle${form.length}.json`)
    const exported = await run(['evidence', 'export', decided.decision.id, '--data', dir, '--out', file, ...form])
    assert.equal(exported.code, 0, exported.stderr)
    assert.equal((await run(['evidence', 'verify', file, '--trust', await trustIn(dir)])).code, 0)
  }
})
