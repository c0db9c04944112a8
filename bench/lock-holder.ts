import { argv } from 'node:process'
import Sqlite from 'better-sqlite3'

/** A second process that keeps the write lock of a database file for `holdMs`, leaves it for `leaveMs`, and so on. */
const [file = '', holdMs = '200', leaveMs = '50'] = argv.slice(2)
const db = new Sqlite(file, { timeout: 5000 })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

for (;;) {
  db.exec('BEGIN IMMEDIATE')
  console.log('held')
  await pause(Number(holdMs))
  db.exec('COMMIT')
  await pause(Number(leaveMs))
}
