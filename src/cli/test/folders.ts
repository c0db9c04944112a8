import { textReport } from '../../authoring/diagnostics/text.ts'
import type { TenantFolder } from '../../authoring/load/files.ts'
import { loadPolicySet } from '../../authoring/load/load.ts'
import { CannotRun } from '../context.ts'
import { linesOfAll } from '../policies/report.ts'
import { wantedFolders } from '../tenant-folders.ts'
import type { TestFolder } from './run.ts'

/**
 * The folders whose tests run.
 *
 * @throws CannotRun with every fault when the policies of one cannot be used
 */
export function testFolders(folders: readonly TenantFolder[], root: string, tenant: string | undefined): TestFolder[] {
  const loaded = wantedFolders(folders, root, tenant).map(load)
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
  return { fault: textReport(errors, linesOfAll([read])) }
}
