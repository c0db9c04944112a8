import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { parseDocument } from 'yaml'
import { isAdvice } from '../../src/policy/codes.ts'
import { compilePolicySet, listFilesOf } from '../../src/policy/load.ts'
import { API_VERSION, PolicyDocument } from '../../src/policy/shapes.ts'
import type { Block } from './page.ts'

const LISTS = new URL('../../policies/acme/', import.meta.url)
const KEYS = Object.keys(PolicyDocument.properties)

/** Texts of policy files by name. */
type Files = ReadonlyMap<string, string>

/**
 * Policies of one page, loaded by the program's own loader. A whole file has an apiVersion; other blocks are parts of
 * one, and get what every file must have. Files that are saved in one folder are one set; a test file that is not saved
 * belongs to the whole file before it. Codes after the language are those that the block must give.
 *
 * @returns what is wrong with a block; undefined when it is what the page says
 */
export function policyBlocks(): (block: Block) => string | undefined {
  const folders = new Map<string, Files>()
  let latest: Files = new Map()
  return ({ lines, words, file }) => {
    const text = lines.join('\n')
    const root: unknown = parseDocument(text).toJS({ maxAliasCount: 0 })
    const names = typeof root === 'object' && root !== null ? Object.keys(root) : []
    const tenant = tenantOf(root) ?? 'acme'
    if (!names.includes('apiVersion')) {
      // A part that is meant to be wrong may be wrong in its first name.
      if (words.length === 0 && !names.some((name) => KEYS.includes(name))) return 'is no part of a policy'
      const whole = `apiVersion: ${API_VERSION}\ntenant: ${tenant}\n${text}`
      // A part leaves names unused, so that its warnings mean nothing unless they are what it is about.
      return differs(words, codesOf(tenant, new Map([['main.yaml', whole]]), words))
    }
    const isTest = names.includes('tests')
    const folder = file === undefined ? '' : dirname(file)
    const beside = file === undefined ? (isTest ? latest : new Map()) : (folders.get(folder) ?? new Map())
    const name = file === undefined ? (isTest ? 'main.test.yaml' : 'main.yaml') : basename(file)
    latest = new Map([...beside, [name, text]])
    if (file !== undefined) folders.set(folder, latest)
    return differs(words, codesOf(tenant, latest))
  }
}

function isAboutWarnings(codes: readonly string[]): boolean {
  return codes.some((code) => code.startsWith('GATE2'))
}

function tenantOf(root: unknown): string | undefined {
  if (typeof root !== 'object' || root === null || !('tenant' in root)) return undefined
  return typeof root.tenant === 'string' ? root.tenant : undefined
}

/** `about` are the codes that a part is there to show: without a warning among them, its warnings do not count. */
function codesOf(tenant: string, texts: Files, about?: readonly string[]): Set<string> {
  const files = Array.from(texts, ([name, text]) => ({ name, bytes: Buffer.from(text) }))
  const lists = new Map(listFilesOf(files).map((path) => [path, listAt(new URL(path, LISTS))]))
  const { diagnostics } = compilePolicySet(
    { tenant, files, lists, ignored: [] },
    about?.some(isAdvice) ? 'advice' : 'doubts',
  )
  const withWarnings = about === undefined || isAboutWarnings(about)
  const counted = diagnostics.filter(({ severity }) => withWarnings || severity === 'error')
  return new Set(counted.map(({ code }) => code))
}

function listAt(url: URL): Uint8Array | { problem: string } {
  return existsSync(url) ? readFileSync(url) : { problem: 'does not exist' }
}

function differs(expected: readonly string[], seen: ReadonlySet<string>): string | undefined {
  const [wanted, given] = [[...expected].sort().join(' '), [...seen].sort().join(' ')]
  return wanted === given ? undefined : `gives ${given || 'no fault'}, not ${wanted || 'none'}`
}
