import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { partsOf, type Tier, testFiles } from './parts.ts'

interface Part {
  /** 1 and 2 are pure; a part imports only what stands lower, but for `and`. */
  rank: 1 | 2 | 3 | 4 | 5 | 6
  /** Parts of the same rank, or above, that it may import as well. */
  and?: readonly string[]
  /** Third-party packages; each belongs to one part, but for SHARED_PACKAGES. */
  packages?: readonly string[]
}

/** The architecture: every folder of src, or a folder further in that is a part by itself, and what it may import. */
const PARTS: Record<string, Part> = {
  base: { rank: 1, packages: ['ajv', 'ajv-formats', 're2js'] },
  // The runtime of policies, which a check needs, and apart from it whatever an author needs.
  policies: { rank: 2, packages: ['json-rules-engine'] },
  gate: { rank: 2, and: ['policies'] },
  authoring: { rank: 2, and: ['gate', 'policies'], packages: ['yaml'] },
  approvals: { rank: 2, and: ['keys', 'killswitch', 'policies'] },
  killswitch: { rank: 2 },
  audit: { rank: 2, and: ['policies'] },
  // Holds what entries record to the rules by which it was done.
  'audit/replay': { rank: 2, and: ['approvals', 'audit', 'keys', 'killswitch', 'policies'] },
  evidence: {
    rank: 2,
    and: ['approvals', 'audit', 'audit/replay', 'keys', 'killswitch', 'policies'],
    packages: ['@noble/ed25519'],
  },
  keys: { rank: 2, and: ['audit'] },
  // Decides what was recorded again.
  replay: { rank: 2, and: ['approvals', 'audit', 'gate', 'keys', 'policies'] },
  // Proposes changes of policies from what was recorded.
  suggest: { rank: 2, and: ['authoring', 'gate', 'policies', 'replay'] },
  // Loose files, at most three: where the package lies, for every shell.
  '.': { rank: 3 },
  // Storage: the interface that each engine implements.
  store: { rank: 3 },
  actions: { rank: 3, and: ['store'] },
  // A thread asks for tsx when the source runs without being built.
  workers: { rank: 3, packages: ['tsx'] },
  'store/sqlite': { rank: 4, packages: ['better-sqlite3'] },
  'store/postgres': { rank: 4, packages: ['pg'] },
  files: { rank: 4 },
  anchors: { rank: 4, and: ['files'] },
  http: { rank: 4, packages: ['express', 'helmet'] },
  // Stands between MCP clients and servers, and asks a running sidecar as agents do.
  mcp: { rank: 4, and: ['client', 'files'] },
  service: { rank: 5, packages: ['pino'] },
  // The commands compose what they need, and `serve` starts the whole service.
  // Of the console they take how text of others is shown.
  cli: { rank: 6, and: ['client', 'console'], packages: ['commander'] },
  // Published and shipped alone: they import nothing outside themselves.
  client: { rank: 3 },
  // But for this entry of the client, into which the build puts the code that verifies evidence, with twins of what only Node has.
  'client/verify': { rank: 3 },
  // The web console, put together for browsers: it calls the service as every client does.
  console: { rank: 3, and: ['client', 'client/verify'], packages: ['preact'] },
}
/** TypeBox, as one file (decision 0020), declares shapes wherever a shape is; hashes are what signatures and a browser need. */
const SHARED_PACKAGES = ['#typebox', '@noble/hashes']
/** Pure code that may import these modules: hashes, signatures and checksums are functions of their arguments. */
const PURE_MODULES: Record<string, readonly string[]> = {
  'node:crypto': ['base/bytes.ts', 'evidence/'],
  'node:zlib': ['keys/'],
  // The version stands in package.json.
  'node:fs': ['version.ts'],
}
const MAX_LINES = 250
/** A file that is made from others, and that nobody reads from start to end. */
const WRITTEN = '// Written by `npm run docs`'

/** Patterns forbidden in a pure part, since everything that varies is an argument. */
const IMPURE: { pattern: RegExp; reason: string }[] = [
  { pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\./, reason: 'reads the clock' },
  { pattern: /\bMath\.random\b|\brandom(Bytes|UUID|Int|Fill|FillSync)\b|\bgetRandomValues\b/, reason: 'is random' },
  { pattern: /\bgenerateKey(Pair)?(Sync)?\b/, reason: 'is random' },
  { pattern: /\bprocess\.[a-z]/, reason: 'reads the process' },
  { pattern: /\b(setTimeout|setInterval|setImmediate|queueMicrotask)\b/, reason: 'uses a timer' },
  { pattern: /\b(fetch|console\.[a-z]+)\(/, reason: 'does input or output' },
  { pattern: /^(export )?(let|var) /m, reason: 'has module state' },
]
const UNWANTED: { pattern: RegExp; reason: string }[] = [
  { pattern: /^export \*/m, reason: 'exports with `*`: name what is exported' },
  { pattern: /^export default\b|\bas default\b/m, reason: 'has a default export' },
  { pattern: /(:|\bas|<|\||=>) *any\b(?!\()|\bany\[\]/, reason: 'uses `any`' },
  { pattern: /\brequire\(|\bcreateRequire\b/, reason: 'requires: import instead' },
  { pattern: /@ts-(ignore|nocheck|expect-error)/, reason: 'silences the compiler' },
]

interface Source {
  /** Relative to src, with `/`. */
  path: string
  text: string
}

const SRC = fileURLToPath(new URL('../src/', import.meta.url))

function sources(): Source[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(SRC, path), 'utf8') }))
}

/** Without comments and the insides of strings; import lines keep theirs. */
function codeOf(text: string): string {
  return text
    .replace(/^\s*(\/\*|\*|\/\/).*$/gm, '')
    .replace(/ \/\/ .*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n$]|\\.)*`/g, "''")
}

function importsOf({ text }: Source): string[] {
  const code = text.replace(/^\s*(\/\*|\*|\/\/).*$/gm, '')
  const forms = [
    /^(?:import|export)\b[^'";]*?\bfrom\s+'([^']+)'/gm,
    /^import\s+'([^']+)'/gm,
    /\bimport\(\s*['"`]([^'"`]+)['"`]/g,
  ]
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? ''))
}

/** The path in src of a relative import, or undefined for a package. */
function targetOf(from: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(SRC, join(SRC, from.path, '..', specifier)).replaceAll('\\', '/')
}

const NESTED = Object.keys(PARTS).filter((name) => name.includes('/'))
/** Parts that are shipped alone, in the first folder of their paths: they import nothing but each other, and run in browsers. */
const ALONE = ['client', 'console']

const isWithin = (part: string, folder: string) => part === folder || part.startsWith(`${folder}/`)
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? path) : '.')
const partOf = (path: string) => NESTED.find((name) => path.startsWith(`${name}/`)) ?? folderOf(path)
const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')
const isPure = (part: Part) => part.rank <= 2

/** Every violation in one file, as `path: reason`. */
function violations(source: Source): string[] {
  const name = partOf(source.path)
  const part = PARTS[name]
  if (part === undefined) return [`${source.path}: is in no part of the architecture; add it to the table or move it`]
  const code = codeOf(source.text)
  const reasons = [
    ...importsOf(source).map((specifier) => importFault(source, name, part, specifier)),
    ...(isPure(part) ? IMPURE : []).map(({ pattern, reason }) =>
      pattern.test(code) ? `${reason} in a pure part` : '',
    ),
    ...UNWANTED.map(({ pattern, reason }) =>
      pattern.test(pattern.source.includes('@ts') ? source.text : code) ? reason : '',
    ),
    !source.text.startsWith(WRITTEN) && source.text.split('\n').length - 1 > MAX_LINES
      ? `has more than ${MAX_LINES} lines`
      : '',
  ]
  return reasons.filter((reason) => reason !== '').map((reason) => `${source.path}: ${reason}`)
}

function importFault(from: Source, name: string, part: Part, specifier: string): string {
  const target = targetOf(from, specifier)
  if (target === undefined) return packageFault(from, name, part, specifier)
  const other = partOf(target)
  if (other === name) return ''
  if (ALONE.includes(name) && !part.and?.includes(other)) return `imports ${specifier}, but ${name} stands alone`
  if (other === '..' || PARTS[other] === undefined) return `imports ${specifier}, which is in no part of src`
  if (ALONE.some((alone) => isWithin(other, alone)) && !part.and?.includes(other))
    return `imports ${specifier}, which is shipped alone`
  if (PARTS[other].rank < part.rank || part.and?.includes(other)) return ''
  return `imports ${specifier}: ${name} (rank ${part.rank}) may not import ${other} (rank ${PARTS[other].rank})`
}

function packageFault(from: Source, name: string, part: Part, specifier: string): string {
  if (specifier.startsWith('node:')) {
    if (ALONE.includes(name)) return `imports ${specifier}, which browsers do not have`
    const allowed = !isPure(part) || PURE_MODULES[specifier]?.some((path) => from.path.startsWith(path))
    return allowed ? '' : `imports ${specifier} in a pure part`
  }
  const wanted = packageOf(specifier)
  if (part.packages?.includes(wanted) || (SHARED_PACKAGES.includes(wanted) && name !== 'client')) return ''
  const owner = Object.keys(PARTS).find((key) => PARTS[key]?.packages?.includes(wanted))
  return `imports ${wanted}, which ${owner === undefined ? 'no part may' : `only ${owner} may`}`
}

/** The first cycle of files, as a path that ends where it began, or undefined. */
function cycleIn(files: readonly Source[]): string | undefined {
  const edges = new Map(
    files.map((file) => [file.path, importsOf(file).flatMap((specifier) => targetOf(file, specifier) ?? [])]),
  )
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' → ')
    if (done.has(path)) return undefined
    for (const next of edges.get(path) ?? []) {
      const cycle = visit(next, [...trail, path])
      if (cycle !== undefined) return cycle
    }
    done.add(path)
    return undefined
  }
  for (const path of edges.keys()) {
    const cycle = visit(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/** The source without imports of types alone, which load nothing. */
function withoutTypes({ path, text }: Source): Source {
  return {
    path,
    text: text.replace(/^import (?:type\b|\{(?:\s*type \w+(?: as \w+)?,?)+\s*\} from)[^']*'[^']*'$/gm, ''),
  }
}

/** Every file that these reach, by whatever way, with the file that imports it. */
function reachedFrom(files: readonly Source[], entries: readonly string[]): Map<string, string> {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Map(entries.map((path) => [path, '']))
  for (const [path] of reached) {
    const file = byPath.get(path)
    if (file === undefined) throw new Error(`${path} is no file of src`)
    for (const specifier of importsOf(file)) {
      const target = targetOf(file, specifier)
      if (target !== undefined && !reached.has(target)) reached.set(target, path)
    }
  }
  return reached
}

const files = sources()

test('every file of src keeps to the architecture', () => {
  assert.ok(files.length > 10, 'src was found')
  assert.deepEqual(files.flatMap(violations), [])
})
test('at most three files lie loose in src', () => {
  const loose = files.map(({ path }) => path).filter((path) => !path.includes('/'))
  assert.ok(loose.length <= 3, loose.join(', '))
})

test('no file of src imports itself, by whatever way', () => assert.equal(cycleIn(files), undefined))

test('a check imports nothing that reads policies or helps their authors', () => {
  const reached = reachedFrom(files, ['gate/judge.ts', 'actions/gate/check.ts', 'policies/link.ts'])
  const authoring = [...reached].filter(([path]) => path.startsWith('authoring/'))
  assert.deepEqual(authoring, [])
})

test('the service reads no policy in its main thread', () => {
  const reached = reachedFrom(files.map(withoutTypes), ['service/server.ts'])
  assert.ok(reached.has('policies/link.ts'))
  const readers = ['authoring/load/load.ts', 'authoring/yaml/read-yaml.ts', 'authoring/lint/lint.ts'].filter((path) =>
    reached.has(path),
  )
  assert.deepEqual(readers, [])
})

test('the parts themselves have no cycle', () => {
  const parts = Object.entries(PARTS).map(([name, { and = [] }]) => {
    return { path: `${name}/a.ts`, text: and.map((other) => `import '../${other}/a.ts'`).join('\n') }
  })
  assert.equal(cycleIn(parts), undefined)
})

test('each package of the table belongs to one part', () => {
  const owned = Object.values(PARTS).flatMap(({ packages }) => packages ?? [])
  assert.deepEqual(owned, [...new Set(owned)])
})

test('every file of tests is in one part of npm test, or in one of the full tier alone; that tier has all', () => {
  const files = testFiles()
  // One part runs files of others again.
  const filesIn = (tier: Tier): string[] =>
    partsOf(tier).flatMap((part) => (part.name === 'postgres' ? [] : part.files))
  assert.deepEqual(filesIn('full').sort(), files)
  const onlyFull = files.filter((file) => file.endsWith('.full.test.ts'))
  assert.deepEqual([...filesIn('fast'), ...onlyFull].sort(), files)
  const rest = filesIn('rest')
  assert.equal(new Set(rest).size, rest.length)
  assert.ok(onlyFull.every((file) => rest.includes(file)))
})

test('every file of tests has tests', () => {
  const declares = /^ *(?:await )?(?:(?:full|file)?[tT]est|\w+(?:Contract|Tests))\(/m
  assert.deepEqual(
    testFiles().filter((file) => !declares.test(readFileSync(join(SRC, '..', file), 'utf8'))),
    [],
  )
})

// The checks themselves: a file that breaks one rule, and the part of the reason that names it.
const bad: { path: string; text: string; reason: RegExp }[] = [
  { path: 'base/a.ts', text: "import { b } from '../policies/b.ts'", reason: /may not import policies/ },
  { path: 'audit/a.ts', text: "import type {\n  B,\n} from '../evidence/b.ts'", reason: /may not import evidence/ },
  {
    path: 'actions/a.ts',
    text: "const b = await import('../store/sqlite/b.ts')",
    reason: /may not import store.sqlite/,
  },
  { path: 'store/a.ts', text: "export { b } from '../actions/b.ts'", reason: /may not import actions/ },
  {
    path: 'http/keys/a.ts',
    text: "import { b } from '../../store/sqlite/b.ts'",
    reason: /may not import store.sqlite/,
  },
  { path: 'client/a.ts', text: "import { b } from '../base/b.ts'", reason: /stands alone/ },
  { path: 'client/a.ts', text: "import { b } from './verify/b.ts'", reason: /stands alone/ },
  { path: 'client/verify/a.ts', text: "import { b } from '../b.ts'", reason: /shipped alone/ },
  { path: 'client/verify/a.ts', text: "import { b } from '../../store/b.ts'", reason: /may not import store/ },
  { path: 'cli/a.ts', text: "import { b } from '../client/verify/b.ts'", reason: /shipped alone/ },
  { path: 'base/a.ts', text: "import { b } from '../../test/b.ts'", reason: /no part of src/ },
  { path: 'extra/a.ts', text: '', reason: /no part of the architecture/ },
  { path: 'http/a.ts', text: "import Sqlite from 'better-sqlite3'", reason: /only store.sqlite may/ },
  {
    path: 'base/a.ts',
    text: "import { x } from 'ajv/dist/2020.js'\nimport 'left-pad'",
    reason: /left-pad, which no part may/,
  },
  { path: 'policies/a.ts', text: "import { readFileSync } from 'node:fs'", reason: /node:fs in a pure part/ },
  { path: 'gate/a.ts', text: "import { hash } from 'node:crypto'", reason: /node:crypto in a pure part/ },
  { path: 'gate/a.ts', text: 'const now = Date.now()', reason: /clock/ },
  { path: 'gate/a.ts', text: 'const now = new Date()', reason: /clock/ },
  { path: 'keys/a.ts', text: 'const n = Math.random()', reason: /random/ },
  { path: 'evidence/a.ts', text: "import { randomBytes } from 'node:crypto'", reason: /random/ },
  { path: 'policies/a.ts', text: 'const e = process.env.A', reason: /process/ },
  { path: 'policies/a.ts', text: 'setTimeout(a, 1)', reason: /timer/ },
  { path: 'policies/a.ts', text: 'let count = 0', reason: /module state/ },
  { path: 'http/a.ts', text: "export * from './b.ts'", reason: /name what is exported/ },
  { path: 'http/a.ts', text: 'const a: any = 1', reason: /`any`/ },
  { path: 'http/a.ts', text: '// @ts-ignore', reason: /silences/ },
  { path: 'http/a.ts', text: '\n'.repeat(MAX_LINES + 1), reason: /more than 250 lines/ },
]

for (const source of bad) {
  test(`the architecture refuses ${source.path}: ${source.reason.source}`, () => {
    const found = violations(source)
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(found[0] ?? '', source.reason)
  })
}

test('comments, strings and lookalikes are no violations', () => {
  const text = [
    "import { Type } from '#typebox'\nimport { hash } from 'node:crypto'\n/** Not Date.now(). */",
    "const a = 'process.env: any' // setTimeout(a, 1)\nconst d = new Date(0)\nconst company = 1\n  let inner = 0",
  ]
  assert.deepEqual(violations({ path: 'evidence/a.ts', text: text.join('\n') }), [])
})

test('a cycle is found, through types too', () => {
  const two = [
    { path: 'base/a.ts', text: "import type { B } from './b.ts'" },
    { path: 'base/b.ts', text: "import { a } from './a.ts'" },
  ]
  assert.equal(cycleIn(two), 'base/a.ts → base/b.ts → base/a.ts')
})
