import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isPolicyFile, isTestFile } from '../authoring/load/files.ts'

/** Relative paths of the policy and test files in a folder and its direct subfolders, sorted. */
export function policyPaths(folder: string): string[] {
  const names = namesIn(folder)
  const folders = names.filter((name) => name !== 'lists' && isKind(folder, name, 'folder'))
  const below = folders.flatMap((name) => filesIn(join(folder, name)).map((file) => join(name, file)))
  return [...filesIn(folder), ...below]
}

function filesIn(folder: string): string[] {
  return namesIn(folder).filter((name) => (isPolicyFile(name) || isTestFile(name)) && isKind(folder, name, 'file'))
}

/** Skips hidden names, which belong to tools, such as the ..data of a ConfigMap. */
function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort()
}

function isKind(folder: string, name: string, kind: 'file' | 'folder'): boolean {
  const stats = statSync(join(folder, name), { throwIfNoEntry: false })
  return kind === 'file' ? stats?.isFile() === true : stats?.isDirectory() === true
}
