import { lstatSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from './rewrite.ts'

/**
 * Exchanges two folders below `root`, of which the first may be missing: the second takes its name then. Between two
 * renames the name is missing for a moment. After a crash there, the next call finishes the exchange.
 *
 * @throws the error of the file system, with the folders as they were or ready to be finished
 */
export function exchangeFolders(root: string, first: string, second: string): void {
  const [one, other] = [join(root, first), join(root, second)]
  const aside = exchangedFolder(root, first)
  const isBegun = exists(aside)
  if (!isBegun && exists(one)) renameSync(one, aside)
  try {
    if (!exists(one)) renameSync(other, one)
  } catch (error) {
    // As for a folder that is a mount of its own.
    if (!isBegun && exists(aside)) renameSync(aside, one)
    throw error
  }
  if (exists(aside)) renameSync(aside, other)
  syncFolder(root)
}

/** True when an exchange of the folder began, and did not end. */
export function isExchanging(root: string, first: string): boolean {
  return exists(exchangedFolder(root, first))
}

/** The place of the first folder between the two renames. A hidden name is never read as policies. */
export function exchangedFolder(root: string, first: string): string {
  return join(root, `.${first}.exchanged`)
}

/** A link is exchanged itself, wherever it leads. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
