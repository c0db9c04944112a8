import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { PolicySource } from '../../authoring/load/files.ts'
import { LIMITS } from '../../authoring/load/limits.ts'
import { isBelow, readInside } from '../../files/inside.ts'
import { isFileError } from '../../files/policies.ts'
import { CannotRun } from '../context.ts'

/** Limits of the other files of a folder that are copied. */
const MAX_DEPTH = 4
const MAX_FILES = 10_000

/**
 * The folder of a tenant's draft below `out`, where one may be written.
 *
 * @param inForce folders of policies that a service may read
 * @throws CannotRun where it is one of these, in one or around one, by links too; or is not empty
 */
export function freeFolder(out: string, tenant: string, inForce: readonly string[]): string {
  const folder = join(out, tenant)
  for (const path of [out, folder])
    for (const root of inForce)
      if (overlap(realOf(path), realOf(root)))
        throw new CannotRun(
          `--out: ${path} overlaps the policies in force (${root}); choose a separate folder, so that no suggestion comes into force by itself.`,
        )
  if (isTaken(folder)) throw notFree(folder)
  return folder
}

function overlap(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a)
}

/** The real path; of what is not there yet, that of the folder that it would be in. */
function realOf(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  if (lstatSync(whole, { throwIfNoEntry: false }) !== undefined)
    throw new CannotRun(`--out: ${whole} is a link to nothing; choose another folder.`)
  const above = dirname(whole)
  return above === whole ? whole : join(realOf(above), basename(whole))
}

function isTaken(folder: string): boolean {
  const entry = lstatSync(folder, { throwIfNoEntry: false })
  if (entry === undefined) return false
  return !entry.isDirectory() || readdirSync(folder).length > 0
}

function notFree(folder: string): CannotRun {
  return new CannotRun(`${folder} is not empty, and suggest overwrites nothing; choose another --out.`)
}

/**
 * Writes a draft: its files, and beside them all others of the folder that it is made from. It is there as a whole or not
 * at all.
 *
 * @returns the paths of the files that the other folder does not have, or has otherwise
 */
export function writeDraft(folder: string, before: PolicySource, draft: PolicySource, from: string): string[] {
  const known = new Map(before.files.map(({ name, bytes }) => [name, bytes]))
  const others = otherFiles(realpathSync(from), new Set(draft.files.map(({ name }) => name)))
  const staging = join(dirname(folder), `.suggest-${process.pid}-${Date.now()}`)
  mkdirSync(staging, { recursive: true })
  try {
    for (const { name, bytes } of [...others, ...draft.files]) {
      mkdirSync(dirname(join(staging, name)), { recursive: true })
      writeFileSync(join(staging, name), bytes, { flag: 'wx', flush: true })
    }
    // Replaces an empty folder, and fails on any other.
    renameSync(staging, folder)
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    if (isFileError(error) && ['ENOTEMPTY', 'EEXIST'].includes(String(error.code))) throw notFree(folder)
    throw error
  }
  return draft.files.filter(({ name, bytes }) => known.get(name) !== bytes).map(({ name }) => join(folder, name))
}

/** Files below a folder that are not hidden, as lists are. Links that lead out of it are left out. */
function otherFiles(folder: string, known: ReadonlySet<string>): { name: string; bytes: Uint8Array }[] {
  const found: { name: string; bytes: Uint8Array }[] = []
  const walk = (path: string, depth: number): void => {
    for (const name of readdirSync(path).sort()) {
      const inner = join(path, name)
      const shown = relative(folder, inner)
      if (name.startsWith('.') || known.has(shown) || !existsSync(inner)) continue
      const entry = statSync(inner)
      if (found.length >= MAX_FILES) throw new CannotRun(`${folder} has more than ${MAX_FILES} files.`)
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && isBelow(realpathSync(inner), folder)) walk(inner, depth + 1)
        continue
      }
      const bytes = readInside(folder, inner, LIMITS.listBytes)
      if (typeof bytes === 'string') continue
      if (bytes.byteLength > LIMITS.listBytes)
        throw new CannotRun(`${inner} has more than ${LIMITS.listBytes} bytes; move it away, since no policy reads it.`)
      found.push({ name: shown, bytes })
    }
  }
  walk(folder, 1)
  return found
}
