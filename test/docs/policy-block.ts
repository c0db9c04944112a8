import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isMap, isScalar, parseDocument } from 'yaml'
import { compileAndTest } from '../../src/authoring/cases/accept.ts'
import { lintWithTests } from '../../src/authoring/cases/untested.ts'
import { isAdvice } from '../../src/authoring/diagnostics/codes.ts'
import { textReport } from '../../src/authoring/diagnostics/text.ts'
import type { PolicySource } from '../../src/authoring/load/files.ts'
import { compilePolicySet } from '../../src/authoring/load/load.ts'
import { listFilesOf } from '../../src/authoring/load/read-files.ts'
import { API_VERSION, PolicyDocument } from '../../src/authoring/shapes/document.ts'
import type { Block } from './page.ts'

const LISTS = new URL('../../policies/acme/', import.meta.url)
const KEYS = Object.keys(PolicyDocument.properties)

/** Texts of policy files by name. */
type Files = ReadonlyMap<string, string>

/** Policy block, as the program's own loader reads and reports it. */
interface Example {
  /** False for a part of a file. */
  isWhole: boolean
  /** Keys at the top. */
  names: readonly string[]
  source: PolicySource
  /** As `validate` prints it. */
  report: string
}

/** True for a block that is a policy, a part of one, or tests. */
export function isPolicyBlock({ language, lines, words, file }: Block): boolean {
  if (language === 'yaml') return true
  return language === 'json' && (words.length > 0 || (file !== undefined && lines.join().includes(API_VERSION)))
}

/**
 * Policies of one page, loaded by the program's own loader, their tests run. A whole file has an apiVersion; other blocks are parts of
 * one, and get what every file must have. Files that are saved in one folder are one set; a test file that is not saved
 * belongs to the whole file before it. Codes after the language are those that the block must give.
 *
 * @param isStrict whether warnings count in parts too, which may leave names unused
 * @returns what is wrong with a block; undefined when it is what the page says
 */
export function policyBlocks(isStrict = false): (block: Block) => Promise<string | undefined> {
  const read = exampleReader()
  return async (block) => {
    const { words } = block
    const { isWhole, names, source } = read(block)
    // Advice is no part of loading.
    const diagnostics = words.some(isAdvice) ? await lintWithTests(source) : (await compileAndTest(source)).diagnostics
    // A part that is meant to be wrong may be wrong in its first name.
    if (!isWhole && words.length === 0 && !names.some((name) => KEYS.includes(name))) return 'is no part of a policy'
    const withWarnings = isStrict || isWhole || words.some((code) => code.startsWith('GATE2'))
    const counted = diagnostics.filter(({ severity }) => withWarnings || severity === 'error')
    return differs(words, new Set(counted.map(({ code }) => code)))
  }
}

/** Reads the policy blocks of one page, in their order. */
export function exampleReader(): (block: Block) => Example {
  const folders = new Map<string, Files>()
  let latest: Files = new Map()
  return ({ language, lines, file }) => {
    const text = lines.join('\n')
    const { names, tenant: named } = topOf(text)
    const folder = file === undefined ? '.' : dirname(file)
    const tenant = folder === '.' ? (named ?? 'acme') : basename(folder)
    if (!names.includes('apiVersion') && file === undefined) {
      // At the end, so that lines count as they stand on the page.
      const whole = `${text}\n\napiVersion: ${API_VERSION}\n${named === undefined ? `tenant: ${tenant}\n` : ''}`
      return { isWhole: false, names, ...loaded(tenant, new Map([['main.yaml', whole]])) }
    }
    const isTest = names.includes('tests')
    const beside = file === undefined ? (isTest ? latest : new Map()) : (folders.get(folder) ?? new Map())
    const name = file === undefined ? `main${isTest ? '.test' : ''}.${language}` : basename(file)
    latest = new Map([...beside, [name, text]])
    if (file !== undefined) folders.set(folder, latest)
    return { isWhole: true, names, ...loaded(tenant, latest) }
  }
}

/** The keys at the top of a text, well-formed or not, and the tenant that it names. */
function topOf(text: string): { names: string[]; tenant: string | undefined } {
  const { contents } = parseDocument(text)
  if (!isMap(contents)) return { names: [], tenant: undefined }
  const tenant = contents.get('tenant')
  return {
    names: contents.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : [])),
    tenant: typeof tenant === 'string' ? tenant : undefined,
  }
}

function loaded(tenant: string, texts: Files): Pick<Example, 'source' | 'report'> {
  const files = Array.from(texts, ([name, text]) => ({ name, bytes: Buffer.from(`${text}\n`) }))
  const lists = new Map(listFilesOf(files).map((path) => [path, listAt(new URL(path, LISTS))]))
  const source = { tenant, files, lists, ignored: [] }
  const { diagnostics } = compilePolicySet(source)
  const linesOf = (file: string): string[] => (texts.get(basename(file)) ?? '').split('\n')
  return { source, report: textReport(diagnostics, linesOf) }
}

function listAt(url: URL): Uint8Array | { problem: string } {
  return existsSync(url) ? readFileSync(url) : { problem: 'does not exist' }
}

function differs(expected: readonly string[], seen: ReadonlySet<string>): string | undefined {
  const [wanted, given] = [[...expected].sort().join(' '), [...seen].sort().join(' ')]
  return wanted === given ? undefined : `gives ${given || 'no fault'}, not ${wanted || 'none'}`
}
