import { AlteredFile } from '../errors.ts'
import { runNow } from '../steps.ts'
import { reading } from '../verify/sound-entry.ts'
import type { Connection } from './connection.ts'

/** Requires each entry to be of a chain that has a name: one at the next place would keep a chain from being made. */
export function assertNamed(connection: Connection): void {
  const unnamed = runNow(reading(connection, 'The table of chains', connection.places.unnamed))
  if (unnamed !== undefined)
    throw new AlteredFile(
      `The chain of number ${unnamed} has entries and no name. The store was altered outside gate-sidecar.`,
    )
}

/**
 * Requires each row of a table to be in each of its indexes, in its place: queries read one or the other.
 *
 * @throws AlteredFile naming the table
 */
export function assertIndexed(connection: Connection, tables: readonly string[]): void {
  for (const table of tables) {
    const check = () => connection.db.pragma(`integrity_check(${table})`, { simple: true })
    const found = runNow(reading(connection, `The table ${table}`, check))
    if (found !== 'ok') throw new AlteredFile(`The table ${table} is damaged: ${String(found)}. Restore a backup.`)
  }
}
