import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

/** Folder of what is deployed. */
export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url))

export const deployed = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')

/** Paths in the folder, but for secrets that somebody made there. */
export const deployedFiles = (): string[] =>
  readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length))
    .filter((path) => !path.startsWith('compose/secrets/'))
    .sort()

// biome-ignore lint/suspicious/noExplicitAny: documents are asserted member by member
export type Yaml = any

/** The documents of a YAML text. @throws the first fault or warning, such as a key that comes twice */
export function documentsIn(text: string): Yaml[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    const [fault] = [...document.errors, ...document.warnings]
    if (fault !== undefined) throw fault
    return document.toJS()
  })
}
