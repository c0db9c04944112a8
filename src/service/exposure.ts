import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesIn, folderNames, isFileError } from '../files/policies.ts'
import { closeToOthers } from '../files/private.ts'
import { FILES } from '../store/sqlite/file-connection.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import { policiesFolder, signingKeyPath, stopReservePath } from './paths.ts'

/**
 * Takes the data folder and the files that hold secrets from other users of the host, and logs what was open to them.
 * Policies that they can write stay so, with a warning: such a user decides what is allowed.
 *
 * @throws Exposed for what stays open: the service does not start on it
 */
export function closeFiles(config: Config, log: Logger): void {
  const { data, sealKey, anchorSecret } = config
  const dir = resolve(data)
  const close = (what: string, path: string, kind: 'file' | 'folder'): void => {
    if (closeToOthers(what, path, kind))
      log.warn({ path }, 'was open to every user of this host; now only its owner and its group have it')
  }
  close('The data folder', dir, 'folder')
  for (const name of FILES) close('The data file', join(dir, name), 'file')
  close('The space for stops', stopReservePath(config), 'file')
  close('The signing key', signingKeyPath(config), 'file')
  if (sealKey !== null) close('The seal key', sealKey, 'file')
  if (anchorSecret !== null) close('The webhook secret', anchorSecret, 'file')
  const policies = policiesFolder(config)
  if (policies !== undefined) warnOfWritable(policies, log)
}

function warnOfWritable(policies: string, log: Logger): void {
  const folders = folderNames(policies).flatMap((name) => [join(policies, name), join(policies, name, 'lists')])
  const files = folders.flatMap((folder) => filesIn(folder).map((name) => join(folder, name)))
  const open = [policies, ...folders, ...files].filter(isOpenToAll)
  const message = 'every user of this host can write policies, and so decide what is allowed: chmod -R o-w'
  if (open.length > 0) log.warn({ path: open[0], paths: open.length }, message)
}

/** False for a folder with the sticky bit, in which only owners replace files. */
function isOpenToAll(path: string): boolean {
  try {
    const { mode } = statSync(path)
    return (mode & 0o002) !== 0 && (mode & 0o1000) === 0
  } catch (error) {
    if (!isFileError(error)) throw error
    // The tenant's fault is reported when its folder is read.
    return false
  }
}
