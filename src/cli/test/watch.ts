import type { PolicySource, TenantFolder } from '../../authoring/load/files.ts'
import { listFilesOf } from '../../authoring/load/read-files.ts'
import { visible, visibleLines } from '../../base/visible.ts'
import { SHADOW } from '../../files/policies.ts'
import { policyFolders } from '../../files/policy-folders.ts'
import { CannotRun } from '../context.ts'
import type { Io, Output } from '../io.ts'
import { untilStopped } from '../serve/signals.ts'

/** Poll interval for changed contents; a service polls each second. */
const POLL_MS = 500

/**
 * Does the work now and after each change of any byte, links followed, until a stop signal.
 * Unusable policies are reported, and the next change is awaited.
 */
export async function watchFolders(
  { stderr }: Io,
  root: string,
  work: (folders: readonly TenantFolder[]) => Promise<void>,
): Promise<void> {
  const worker = { listFiles: async (files: PolicySource['files']) => ({ value: listFilesOf(files) }) }
  const kinds = [policyFolders(root, worker), policyFolders(root, worker, SHADOW)]
  let known: string | undefined
  await untilStopped(POLL_MS, async () => {
    const folders = await Promise.all(kinds.flatMap(({ names, read }) => names().map(read)))
    const fingerprint = JSON.stringify(folders.map((folder) => [folder.tenant, folder.fingerprint]))
    if (fingerprint === known) return false
    if (known !== undefined) stderr.write('\nChanged:\n')
    known = fingerprint
    await workOrTell(() => work(folders), stderr)
    stderr.write(`Waiting for a change in ${visible(root)}; press Ctrl-C to stop.\n`)
    return true
  })
}

async function workOrTell(work: () => Promise<void>, stderr: Output): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error
    stderr.write(`${visibleLines(error.message)}\n`)
  }
}
