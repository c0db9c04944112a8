import { isActionName } from '../base/glob.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { parseFactPath } from '../policies/path.ts'
import type { Named } from './draft.ts'
import type { Example } from './examples.ts'

/** A noon of a Monday. */
const NOON_MS = Date.UTC(2026, 0, 5, 12)
const MADE_UP = { id: 'made-up', agent: { identity: 'agent', environment: 'live' as const }, nowMs: NOON_MS }

/** Requests that nobody made, and that a proposal changes: they show what a rule is for that no recorded request meets. */
export function madeUp({ kind, added, actions, above }: Named, near: readonly Example[]): Example[] {
  if (kind === 'unused' && added !== undefined)
    return actions
      .filter(isActionName)
      .map((action) => ({ ...MADE_UP, action, context: {}, plan: undefined, from: 'allow', to: added.effect }))
  const like = near.find(({ from }) => from === 'allow')
  if (above === undefined || like === undefined) return []
  const larger = withNumber(like, above.fact, above.limit * 2)
  return larger === undefined ? [] : [{ ...larger, id: `made-up-${like.id}`, to: added?.effect ?? 'deny' }]
}

/** The request with another number. Undefined where it has none there. */
function withNumber(example: Example, fact: string, value: number): Example | undefined {
  const path = parseFactPath(fact)
  const copy = structuredClone(example)
  let inner: JsonObject | undefined = path?.root === 'plan' ? copy.plan : copy.context
  for (const [i, name] of (path?.segments ?? []).entries()) {
    if (inner === undefined || typeof name !== 'string') return undefined
    const known = inner[name]
    if (i === (path?.segments.length ?? 0) - 1) {
      if (typeof known !== 'number') return undefined
      inner[name] = value
      return copy
    }
    inner = isJsonObject(known) ? known : undefined
  }
  return undefined
}
