import { existsSync } from 'node:fs'
import { tenantsIn } from '../files/policies.ts'
import { closest } from '../policy/suggest.ts'
import { CannotRun } from './context.ts'

/** What to say where a tenant has no folder of policies, with the one that was perhaps meant. */
export function noFolderOf(tenant: string, root: string): CannotRun {
  const meant = existsSync(root) ? closest(tenant, tenantsIn(root)) : undefined
  const advice =
    meant === undefined
      ? 'name another with --tenant or --policies, or make one with `gate-sidecar init`.'
      : `did you mean ${meant}?`
  return new CannotRun(`There is no folder of ${tenant} in ${root}; ${advice}`)
}
