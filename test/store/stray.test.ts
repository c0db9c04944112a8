import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../src/service/log.ts'
import { run } from '../cli/program.ts'
import { startGate } from '../helpers.ts'
import { tamper } from './used-folder.ts'

const MAIL = { tenantId: 'acme', action: 'email.send' }

const COLUMNS = 'ts, type, id, hash, prev, commits, salts, actor, data'
/** A row like another, of a chain that has no name. */
const strayOf = (chain: string): string =>
  `INSERT INTO audit_entry (at, ${COLUMNS})
     SELECT (${chain}) << 33, ts, type, randomblob(16), hash, prev, commits, salts, actor, data
       FROM audit_entry WHERE type IS NOT NULL LIMIT 1`
const NEXT = 'SELECT max(number) + 1 FROM chain'

/** A data folder with some decisions, which no service uses. */
async function dataOf(t: TestContext): Promise<string> {
  const gate = await startGate(t)
  const agent = await gate.key({ roles: ['agent'] })
  for (let n = 0; n < 3; n += 1) await gate.call(agent, 'POST', '/gate/check', MAIL)
  await gate.server.close()
  return join(gate.dir, 'data')
}

const STRAY: [what: string, chain: string][] = [
  ['the next chain', NEXT],
  ['a chain far behind', '1000'],
  ['a chain before the first', '-1'],
]
for (const [what, chain] of STRAY) {
  test(`an entry of no chain is told by audit verify, and keeps the service from starting: ${what}`, async (t) => {
    const data = await dataOf(t)
    assert.equal((await run(['audit', 'verify', '--data', data])).code, 0)
    tamper(data, (db) => db.exec(strayOf(chain)))
    const verified = await run(['audit', 'verify', '--data', data])
    assert.equal(verified.code, 1)
    assert.match(verified.stdout, /BROKEN: The chain of number -?\d+ has entries and no name/)
    await assert.rejects(startGate(t, { dir: join(data, '..') }), /has entries and no name/)
  })
}

test('an entry at the place of a new chain is named in the log, and the chain is made when it is gone', async (t) => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const gate = await startGate(t, { log: createLogger('info', stream) })
  await gate.key({ roles: ['agent'] })
  const data = join(gate.dir, 'data')
  tamper(data, (db) => db.exec(strayOf(NEXT)))
  await assert.rejects(gate.key({ environment: 'test' }), { code: 'audit_unavailable' })
  tamper(data, (db) => db.exec('DELETE FROM audit_entry WHERE chain NOT IN (SELECT number FROM chain)'))
  const tester = await gate.key({ environment: 'test' })
  assert.equal((await gate.call(tester, 'POST', '/gate/check', MAIL)).status, 200)
})

const FIRST = "(SELECT min(seq) FROM section WHERE name = 'decision')"
const TAMPERED: [what: string, sql: string][] = [
  [
    'what an entry says',
    `UPDATE section SET json = replace(json, 'allow', 'deny') WHERE name = 'decision' AND seq = ${FIRST}`,
  ],
  ['a section that is gone', `DELETE FROM section WHERE name = 'request' AND seq = ${FIRST}`],
]
for (const [what, sql] of TAMPERED) {
  test(`of a trail that was altered nothing is exported, and nothing signed: ${what}`, async (t) => {
    const data = await dataOf(t)
    tamper(data, (db) => db.exec(sql))
    const out = join(data, '../export')
    const args = ['audit', 'export', '--tenant', 'acme', '--data', data, '--out', out]
    const { code, stderr } = await run(args)
    assert.equal(code, 3, stderr)
    assert.match(stderr, /does not verify: /)
    assert.equal(existsSync(out), false)
  })
}
