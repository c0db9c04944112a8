import { loadsOf } from '../../actions/policies/loads.ts'
import type { CommonOptions } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { print, table } from '../output.ts'

/** Lists the sets that came into force. */
export async function history(options: CommonOptions & { tenant: string; limit: number }): Promise<void> {
  const { tenant, limit } = options
  const found = await withStore(options, async (deps) => {
    assertTenant(deps, tenant)
    const revision = deps.store.state().policies.get(tenant)?.revision
    const loads = await loadsOf(deps.store, tenant, limit)
    return loads.map(({ actor, ...load }) => ({ ...load, by: actor?.id ?? null, inForce: load.revision === revision }))
  })
  print(options, found, () =>
    found.length === 0
      ? [`No set of ${tenant} came into force yet.`]
      : table(
          ['LOADED', 'SET', 'MODE', 'RULES', 'BY'],
          found.map(({ loadedAt, digest, mode, rules, by, inForce }) => [
            ...[loadedAt, digest, mode ?? '', String(rules ?? ''), by ?? ''],
            inForce ? 'newest' : '',
          ]),
        ),
  )
}
