import { chainOf } from '../audit/chain.ts'
import { isReleasing } from '../audit/events.ts'
import { ENVIRONMENTS } from '../base/environment.ts'
import { storedJson } from '../base/json.ts'
import { GLOBAL, type KillSwitch } from '../killswitch/killswitch.ts'
import { AlteredFile } from './errors.ts'
import type { RecordRow } from './records.ts'
import type { Alteration, HeldKind } from './store.ts'
import type { PreparedSubmission } from './submission.ts'

/** The alteration of the file's version of state: nothing shows any more which rows have changed. */
export const STATE_VERSION: Alteration = {
  kind: 'instance',
  id: 'state_version',
  message: 'The version of the state in the store went back. The store was altered outside gate-sidecar; restart.',
}

/**
 * Refuses what relies on a record that was altered in the file. Denials, stops and revocations are recorded all the same.
 *
 * @throws AlteredFile naming the record
 */
export function assertUnaltered(altered: Iterable<Alteration>, submission: PreparedSubmission): void {
  for (const alteration of altered) {
    if (touches(alteration, submission) && submission.entries.some(releases)) throw new AlteredFile(alteration.message)
  }
}

function releases({ type, decision }: PreparedSubmission['entries'][number]): boolean {
  return decision === undefined ? isReleasing(type) : decision.decision === 'allow'
}

function touches(alteration: Alteration, { guards, writes, entries }: PreparedSubmission): boolean {
  switch (alteration.kind) {
    case 'instance':
      return true
    case 'key':
      return guards.some((guard) => 'keyId' in guard && guard.keyId === alteration.id)
    case 'signingKey':
      return writes.some(({ kind }) => kind === 'checkpoint' || kind === 'signingKey')
    case 'tenant':
    case 'policy': {
      const chains = ENVIRONMENTS.map((environment) => chainOf(alteration.id, environment))
      return entries.some(({ chain }) => chains.includes(chain))
    }
    case 'switch':
      return entries.some(({ chain }) => alteration.targets?.includes(chain) ?? true)
  }
}

/** The refusal of a row. */
export function alterationOf(kind: HeldKind, row: RecordRow, known: unknown, message: string): Alteration {
  const alteration = { kind, id: row.id, message }
  return kind === 'switch' ? { ...alteration, targets: targetsOf([storedJson(row.body), known]) } : alteration
}

/** The chains that the stop may cover, by the row or by what was known; undefined where that may be all. */
function targetsOf(stops: readonly unknown[]): string[] | undefined {
  const targets = stops.filter((stop) => stop !== undefined).map((stop) => (stop as Partial<KillSwitch>)?.target)
  const chains = targets.filter((target) => typeof target === 'string' && target !== GLOBAL)
  return chains.length === targets.length ? (chains as string[]) : undefined
}
