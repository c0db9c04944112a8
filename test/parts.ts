import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Tier = 'fast' | 'full' | 'rest'

/** Part of the tests that one process runs. */
export interface Part {
  name: string
  /** Program and arguments. */
  command: readonly string[]
  files: readonly string[]
}

export const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Program of a process of tests, which runs the files of its arguments. */
export const PART = 'test/part.ts'

/**
 * Folders that take long, in their order, and how many processes share their files; `each` file has its own where it
 * changes its process. First those that wait, then the longest: at the end, short ones keep every processor busy.
 */
const PROCESSES: Record<string, number | 'each'> = {
  anchors: 2,
  store: 4,
  e2e: 3,
  console: 1,
  small: 3,
  evidence: 3,
  http: 3,
  cli: 2,
  client: 'each',
  docs: 'each',
  authoring: 2,
  fleet: 'each',
  mcp: 2,
  audit: 1,
  image: 'each',
}

/** Folders that share the processes named `small`: a process takes half a second to load. */
const SMALL = ['approvals', 'base', 'conformance', 'evaluation', 'gate', 'keys', 'killswitch', 'policies']

/** Tests whose service keeps its trail in PostgreSQL in the full tier, beside a data file in the fast one. */
const ON_POSTGRES = [
  ...['approvals/', 'killswitch/', 'keys/', 'http/check-wait', 'http/decisions', 'http/events', 'http/idempotency'],
  ...['http/keys', 'http/list', 'http/over-time', 'http/outcome', 'http/overview', 'http/paging', 'http/pruned'],
  ...[
    'http/rotate',
    'http/replay',
    'replay/',
    'evidence/envelope',
    'evidence/erased',
    'evidence/rotation',
    'evidence/service',
    'client/clients',
  ],
]

/** Parts without files of test/, and the tiers that run them. Those of the rest add to the fast tier. */
const COMMANDS: readonly { name: string; tiers: readonly Tier[]; command: readonly string[] }[] = [
  { name: 'integrations', tiers: ['full', 'rest'], command: ['npm', 'run', 'test:integrations'] },
  { name: 'check', tiers: ['fast', 'full'], command: ['npm', 'run', 'check'] },
  { name: 'python', tiers: ['fast', 'full', 'rest'], command: ['npm', 'run', 'test:python'] },
]

/** Every file of tests, relative to the project. */
export function testFiles(): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path.replaceAll('\\', '/')}`)
    .sort()
}

/** Returns whether a tier runs a file. The rest runs files with counts that depend on the tier again, in full. */
export function isIn(tier: Tier, file: string): boolean {
  if (tier === 'full') return true
  const isFull = file.endsWith('.full.test.ts')
  return tier === 'fast' ? !isFull : isFull || reads(file, 'test/tier.ts')
}

/** Returns whether a file is `wanted`, or imports it directly or through others of test/. */
export function reads(file: string, wanted: string, seen = new Set<string>()): boolean {
  if (file === wanted) return true
  if (seen.has(file) || !existsSync(join(ROOT, file))) return false
  seen.add(file)
  const imports = readFileSync(join(ROOT, file), 'utf8').matchAll(/\bfrom '(\.[^']+\.ts)'/g)
  return [...imports]
    .map(([, path = '']) => relative(ROOT, join(ROOT, dirname(file), path)).replaceAll('\\', '/'))
    .some((path) => path.startsWith('test/') && reads(path, wanted, seen))
}

/** The parts of a tier, slow ones first. @param names paths of files or folders, or names of commands; none for all */
export function partsOf(tier: Tier, names: readonly string[] = []): Part[] {
  const isNamed = (name: string): boolean => names.length === 0 || names.some((wanted) => isWithin(name, wanted))
  const files = testFiles().filter((file) => isIn(tier, file) && isNamed(file))
  const commands = COMMANDS.filter(({ name, tiers }) => tiers.includes(tier) && isNamed(name))
  const folders = new Set([...Object.keys(PROCESSES), ...files.map(folderOf)])
  return [
    ...commands.map(({ name, command }) => ({ name, command, files: [] })),
    ...(tier !== 'fast' && isNamed('postgres') ? [onPostgres()] : []),
    ...[...folders].flatMap((folder) => packs(folder, files)),
  ]
}

/** The files of ON_POSTGRES that start a service, each in a process of its own: one that is busy hears no database. */
function onPostgres(): Part {
  const files = testFiles()
    .filter((file) => ON_POSTGRES.some((part) => file.startsWith(`test/${part}`)))
    .filter((file) => reads(file, 'test/helpers.ts'))
  const program = [process.execPath, '--enable-source-maps', '--test', '--test-concurrency=1', '--test-reporter=spec']
  return { name: 'postgres', command: ['env', 'GATE_TEST_STORE=postgres', ...program, ...files.map(bundled)], files }
}

/** Builds the program, and what the parts run. Parts that are chosen by name use the program as it was built last. */
export function builds(parts: readonly Part[], isWhole: boolean): Part[] {
  const files = [...new Set([PART, ...parts.flatMap((part) => part.files)])]
  const entries = files.map((file) => `${bundleOf(file)}=${file}`)
  const tests = { name: 'build of the tests', command: [process.execPath, 'test/build.js', ...entries], files: [] }
  return isWhole ? [{ name: 'build', command: ['npm', 'run', 'build'], files: [] }, tests] : [tests]
}

/** Returns whether a path, or the name of a command, is `wanted` or lies in that folder. */
export const isWithin = (name: string, wanted: string): boolean => name === wanted || name.startsWith(`${wanted}/`)

/** The folder directly in test/, `small` for a small one, `test` for a file there. */
function folderOf(file: string): string {
  const name = file.split('/').length > 2 ? (file.split('/')[1] ?? '') : 'test'
  return SMALL.includes(name) ? 'small' : name
}

/** The files of a folder, in as many processes as the table says. */
function packs(folder: string, all: readonly string[]): Part[] {
  const files = all.filter((file) => folderOf(file) === folder)
  const shared = PROCESSES[folder] ?? 1
  const count = Math.min(shared === 'each' ? files.length : shared, files.length)
  const shares = Array.from({ length: count }, (): string[] => [])
  // The longest file goes where least is yet.
  const size = (file: string): number => statSync(join(ROOT, file)).size
  const filled = shares.map(() => 0)
  for (const file of files.toSorted((a, b) => size(b) - size(a))) {
    const least = filled.indexOf(Math.min(...filled))
    shares[least]?.push(file)
    filled[least] = (filled[least] ?? 0) + size(file)
  }
  return shares.map((share, i) => ({
    name: nameOf(folder, share, i, count),
    command: [process.execPath, '--enable-source-maps', '--test-reporter=spec', ...[PART, ...share].map(bundled)],
    files: share,
  }))
}

/** Name of a file's bundle in dist-test, without its extension. */
const bundleOf = (file: string): string => file.replaceAll('/', '-').replace(/\.ts$/, '')

const bundled = (file: string): string => `dist-test/${bundleOf(file)}.js`

function nameOf(folder: string, [first = '', ...others]: readonly string[], index: number, count: number): string {
  if (others.length === 0) return first
  return count === 1 ? folder : `${folder} ${index + 1}/${count}`
}
