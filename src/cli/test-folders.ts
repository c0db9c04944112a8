import { existsSync } from 'node:fs'
import { loadPolicySet, type TenantFolder } from '../policy/load.ts'
import { textReport } from '../policy/output/text.ts'
import { CannotRun } from './context.ts'
import { noFolderOf } from './no-folder.ts'
import { linesIn } from './report.ts'
import type { TestFolder } from './test-run.ts'

/**
 * The folders whose tests are run.
 *
 * @throws CannotRun with every fault when the policies of one cannot be used
 */
export function testFolders(folders: readonly TenantFolder[], root: string, tenant: string | undefined): TestFolder[] {
  if (!existsSync(root)) throw new CannotRun(`There is no folder ${root}; name another with --policies.`)
  const wanted = folders.filter((folder) => tenant === undefined || folder.tenant === tenant)
  if (wanted.length === 0) {
    if (tenant !== undefined) throw noFolderOf(tenant, root)
    throw new CannotRun(`${root} holds no tenant's folder; --policies names the folder above those of the tenants.`)
  }
  const loaded = wanted.map(load)
  const faults = loaded.flatMap(({ fault }) => fault ?? [])
  if (faults.length > 0)
    throw new CannotRun(`The policies have faults, so that no test is run:\n${faults.join('\n\n')}`)
  return loaded.flatMap(({ folder }) => folder ?? [])
}

function load(read: TenantFolder): { folder?: TestFolder; fault?: string } {
  const { tenant, source } = read
  if ('problem' in source) return { fault: `The folder of ${tenant} ${source.problem}.` }
  const { set, tests, diagnostics } = loadPolicySet(source)
  if (set !== undefined) return { folder: { tenant, set, tests } }
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return { fault: textReport(errors, linesIn([read])) }
}
