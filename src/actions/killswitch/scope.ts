import { GateError } from '../../base/errors.ts'
import { parseGlob } from '../../base/glob.ts'
import { EVERYTHING, GLOBAL, type Level, type Scoped } from '../../killswitch/killswitch.ts'
import type { PolicySet } from '../../policies/set.ts'

/**
 * Resolves the level and scope of a trigger. Without a scope, L1 and L2 stop the whole tenant: a stop must not fail for
 * a missing field.
 *
 * @throws GateError `invalid_request` for a scope that is not a glob or a domain; it names the known domains
 */
export function resolveScope(
  operator: { chain: string; tenantId: string },
  { level, scope }: { level: Level; scope?: string },
  set: PolicySet | undefined,
): Scoped {
  const { chain, tenantId } = operator
  const invalid = (message: string): GateError =>
    new GateError('invalid_request', message, { details: [{ path: '/scope', message }] })
  const everything = scope === undefined || scope === EVERYTHING
  switch (level) {
    case 'L1':
      if (everything) return { level, target: chain, scope: EVERYTHING, patterns: [] }
      if (parseGlob(scope) === undefined) throw invalid(`${scope} is not an action or a pattern such as payment.*`)
      return { level, target: chain, scope, patterns: [scope] }
    case 'L2': {
      if (everything) return { level, target: chain, scope: EVERYTHING, patterns: [] }
      const globs = set?.domains.get(scope)
      const known = [...(set?.domains.keys() ?? [])].join(', ') || 'none'
      if (globs === undefined) throw invalid(`${scope} is not a domain of this tenant; known domains: ${known}`)
      return { level, target: chain, scope, patterns: globs.map(({ text }) => text) }
    }
    case 'L3':
      if (!everything && scope !== tenantId) throw invalid(`L3 stops the whole tenant; its scope is ${tenantId}`)
      return { level, target: chain, scope: tenantId, patterns: [] }
    case 'L4':
      if (!everything && scope !== GLOBAL) throw invalid(`L4 stops everything; its scope is ${GLOBAL}`)
      return { level, target: GLOBAL, scope: GLOBAL, patterns: [] }
  }
}
