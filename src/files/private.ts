import { chmodSync, closeSync, fchmodSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'

/** A file or folder that every user of the host can read or change, and that cannot be closed to them. */
export class Exposed extends Error {
  override readonly name = 'Exposed'
}

/** Permission bits of users other than the owner and the group. Groups are the operator's: containers share by them. */
const FOR_ALL = 0o007
/** Everybody may make files in a folder with this bit, such as /tmp. */
const STICKY = 0o1000

const KINDS = {
  file: { bits: 0o006, can: 'can be read or changed by every user', remedy: 'chmod 600 it' },
  // A user who can only list a folder learns the names of its files.
  folder: { bits: 0o002, can: 'can be written by every user', remedy: 'chmod 700 it, or name a folder inside it' },
} as const
type Kind = keyof typeof KINDS

/**
 * Takes a file or folder from all users but its owner and group. The one rule for whatever holds secrets or decides.
 *
 * @param what it is, as the beginning of a sentence
 * @returns true when it was open to them; false when it was not, or is not there
 * @throws Exposed when it stays open, since it belongs to another user, or its file system keeps no modes
 */
export function closeToOthers(what: string, path: string, kind: Kind): boolean {
  const stats = (): Stats | undefined => statSync(path, { throwIfNoEntry: false })
  const before = stats()
  if (before === undefined || !isOpen(before, kind)) return false
  const now = changed(before, (mode) => chmodSync(path, mode)) ? stats() : before
  if (now !== undefined && isOpen(now, kind)) throw exposed(what, path, kind)
  return true
}

/** Reads the text of a secret, which is taken from other users first. @throws Exposed, or the error of the system */
export function readPrivately(what: string, path: string): string {
  const file = openSync(path, 'r')
  try {
    const before = fstatSync(file)
    const isClosed = !isOpen(before, 'file') || changed(before, (mode) => fchmodSync(file, mode))
    if (!isClosed || isOpen(fstatSync(file), 'file')) throw exposed(what, path, 'file')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Reads the text of a secret. @throws an `Unusable`, whose message says why it cannot be read */
export function readSecret(
  what: string,
  path: string,
  Unusable: new (message: string, options: ErrorOptions) => Error,
): string {
  try {
    return readPrivately(what, path)
  } catch (cause) {
    if (cause instanceof Exposed) throw new Unusable(cause.message, { cause })
    throw new Unusable(`${what} ${path} cannot be read.`, { cause })
  }
}

/** Windows keeps no modes: its access lists are not seen here. */
function isOpen({ mode }: Stats, kind: Kind): boolean {
  return process.platform !== 'win32' && (mode & KINDS[kind].bits) !== 0
}

/** Changes the mode where it is ours, and nobody meant the folder for everybody. */
function changed({ mode, uid }: Stats, change: (mode: number) => void): boolean {
  if (uid !== process.geteuid?.() || (mode & STICKY) !== 0) return false
  try {
    change(mode & 0o7777 & ~FOR_ALL)
    return true
  } catch (error) {
    // A mount that is read-only.
    if (error instanceof Error && 'code' in error && (error.code === 'EROFS' || error.code === 'EPERM')) return false
    throw error
  }
}

function exposed(what: string, path: string, kind: Kind): Exposed {
  const { can, remedy } = KINDS[kind]
  return new Exposed(`${what} ${path} ${can}; ${remedy}.`)
}
