import { assertUnfenced, type Fence } from '../fence.ts'
import { first, type Runner, statement } from './database.ts'

const READ = statement('SELECT kind, other, at FROM gate.fence')
/** Takes the kind, the other side and the time. */
export const PUT_FENCE = statement(
  `INSERT INTO gate.fence (one, kind, other, at) VALUES (1, $1, $2, $3)
   ON CONFLICT (one) DO UPDATE SET kind = excluded.kind, other = excluded.other, at = excluded.at`,
)
export const REMOVE_FENCE = statement('DELETE FROM gate.fence')

export function readFence(run: Runner): Promise<Fence | undefined> {
  return first(run.rows<Fence>(READ))
}

/** Requires the database to be one in use. @throws UnusableFile */
export async function assertInUse(run: Runner): Promise<void> {
  assertUnfenced('this database', await readFence(run))
}
