import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { createLogger } from '../../src/service/log.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { run } from '../cli/program.ts'
import { startGate } from '../helpers.ts'

const MAIL = { tenantId: 'acme', action: 'email.send' }

function alter(data: string, sql: string): void {
  const db = new Sqlite(join(data, DATA_FILE))
  db.exec(sql)
  db.close()
}

const strayAt = (chain: string, seq: string): string =>
  `INSERT INTO section (chain, seq, name, salt, json) VALUES ('${chain}', ${seq}, 'request', zeroblob(32), '{}')`
const NEXT = "(SELECT max(seq) + 1 FROM entry WHERE chain = 'acme/live')"

/** A data folder with some decisions, which no service uses. */
async function dataOf(t: TestContext): Promise<string> {
  const gate = await startGate(t)
  const agent = await gate.key({ roles: ['agent'] })
  for (let n = 0; n < 3; n += 1) await gate.call(agent, 'POST', '/gate/check', MAIL)
  await gate.server.close()
  return join(gate.dir, 'data')
}

const STRAY: [what: string, sql: string, chain: string][] = [
  ['at the next place', strayAt('acme/live', NEXT), 'acme/live'],
  ['far behind', strayAt('acme/live', '1000000'), 'acme/live'],
  ['before the first place', strayAt('acme/live', '-1'), 'acme/live'],
  ['of a chain that has not begun', strayAt('acme/test', '0'), 'acme/test'],
]
for (const [what, sql, chain] of STRAY) {
  test(`a section of no entry is told by audit verify, and keeps the service from starting: ${what}`, async (t) => {
    const data = await dataOf(t)
    assert.equal((await run(['audit', 'verify', '--data', data])).code, 0)
    alter(data, sql)
    const verified = await run(['audit', 'verify', '--data', data])
    assert.equal(verified.code, 1)
    assert.match(
      verified.stdout,
      new RegExp(`${chain} +TAMPERED .*a section of entry -?\\d+ is there, and no such entry`),
    )
    assert.match(verified.stdout, new RegExp(`BROKEN: Audit chain ${chain} has a section of entry -?\\d+, and no such`))
    await assert.rejects(startGate(t, { dir: join(data, '..') }), /has a section of entry -?\d+, and no such entry/)
  })
}

test('a section that comes to the next place while the service runs is named in its log, and checks go on when it is gone', async (t) => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const gate = await startGate(t, { log: createLogger('info', stream) })
  const agent = await gate.key({ roles: ['agent'] })
  const check = () => gate.call(agent, 'POST', '/gate/check', MAIL)
  assert.equal((await check()).status, 200)
  const data = join(gate.dir, 'data')
  alter(data, strayAt('acme/live', NEXT))
  const refused = await check()
  assert.deepEqual([refused.status, refused.body.error], [503, 'audit_unavailable'])
  assert.ok(
    lines.some((line) => /Audit chain acme\/live has a section of entry \d+, and no such entry/.test(line)),
    lines.join(''),
  )
  alter(
    data,
    "DELETE FROM section WHERE chain = 'acme/live' AND seq > (SELECT max(seq) FROM entry WHERE chain = 'acme/live')",
  )
  assert.equal((await check()).status, 200)
})

const FIRST = "(SELECT min(seq) FROM section WHERE name = 'decision')"
const TAMPERED: [what: string, sql: string][] = [
  [
    'what an entry says',
    `UPDATE section SET json = replace(json, 'allow', 'deny') WHERE name = 'decision' AND seq = ${FIRST}`,
  ],
  ['a section of no entry', strayAt('acme/live', NEXT)],
  ['a section that is gone', `DELETE FROM section WHERE name = 'request' AND seq = ${FIRST}`],
]
for (const [what, sql] of TAMPERED) {
  test(`of a trail that was altered nothing is exported, and nothing signed: ${what}`, async (t) => {
    const data = await dataOf(t)
    alter(data, sql)
    const out = join(data, '../export')
    const args = ['audit', 'export', '--tenant', 'acme', '--data', data, '--out', out]
    const { code, stderr } = await run(args)
    assert.equal(code, 3, stderr)
    assert.match(stderr, /is not what was signed: |has a section of entry/)
    assert.equal(existsSync(out), false)
  })
}
