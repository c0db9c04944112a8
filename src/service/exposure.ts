import { join, resolve } from 'node:path'
import { closeToOthers } from '../files/private.ts'
import { FILES } from '../store/sqlite/file-connection.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import { signingKeyPath, stopReservePath } from './paths.ts'

/**
 * Takes the data folder and the files that hold secrets from other users of the host, and logs what was open to them.
 *
 * @throws Exposed for what stays open: the service does not start on it
 */
export function closeData(config: Config, log: Logger): void {
  const { data, anchorSecret } = config
  const dir = resolve(data)
  const close = (what: string, path: string, kind: 'file' | 'folder'): void => {
    if (closeToOthers(what, path, kind))
      log.warn({ path }, 'was open to every user of this host; now only its owner and its group have it')
  }
  close('The data folder', dir, 'folder')
  for (const name of FILES) close('The data file', join(dir, name), 'file')
  close('The space for stops', stopReservePath(config), 'file')
  close('The signing key', signingKeyPath(config), 'file')
  if (anchorSecret !== null) close('The webhook secret', anchorSecret, 'file')
}
