import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantFolder } from '../../authoring/load/files.ts'
import { listFilesOf } from '../../authoring/load/read-files.ts'
import { visible, visibleLines } from '../../base/visible.ts'
import { policyFolders } from '../../files/policy-folders.ts'
import { CannotRun } from '../context.ts'
import type { Io, Output } from '../io.ts'
import { stopSignal } from '../serve/signals.ts'

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
  let isStopped = false
  const stopped = stopSignal().then(() => {
    isStopped = true
  })
  const all = policyFolders(root, { listFiles: async (files) => ({ value: listFilesOf(files) }) })
  for (let known: string | undefined; !isStopped; ) {
    const folders = await Promise.all(all.names().map((tenant) => all.read(tenant)))
    const fingerprint = JSON.stringify(folders.map((folder) => [folder.tenant, folder.fingerprint]))
    if (fingerprint === known) {
      await Promise.race([sleep(POLL_MS), stopped])
      continue
    }
    if (known !== undefined) stderr.write('\nChanged:\n')
    known = fingerprint
    await workOrTell(() => work(folders), stderr)
    stderr.write(`Waiting for a change in ${visible(root)}; Ctrl+C ends.\n`)
  }
}

async function workOrTell(work: () => Promise<void>, stderr: Output): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error
    stderr.write(`${visibleLines(error.message)}\n`)
  }
}
