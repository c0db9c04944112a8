import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** A revision of Git: no option, and nothing that names a file in it. */
const REVISION = /^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]*$/
/** Limits of the files of a revision. */
const MAX_FILES = 10_000
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Runs `work` on the files that a folder had at a revision, in a temporary folder that is deleted afterwards.
 *
 * @throws Error with what Git says, for a revision or a folder that is not there
 */
export function withRevision<T>(revision: string, folder: string, work: (folder: string) => T): T {
  if (!REVISION.test(revision)) throw new Error(`${revision} is not a revision such as main or HEAD~1`)
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, { cwd: folder, maxBuffer: MAX_BYTES, stdio: ['ignore', 'pipe', 'pipe'] })
  const dir = mkdtempSync(join(tmpdir(), 'gate-sidecar-'))
  try {
    const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`).toString().trim()
    const prefix = git('rev-parse', '--show-prefix').toString().trim()
    const names = git('ls-tree', '-r', '-z', '--name-only', '--full-tree', commit, '--', prefix === '' ? '.' : prefix)
      .toString()
      .split('\0')
      .filter((name) => name !== '')
    if (names.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} files at ${revision}`)
    for (const name of names) {
      const path = join(dir, relative(prefix, name))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, git('cat-file', 'blob', `${commit}:${name}`))
    }
    return work(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
