import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inSource } from '../src/stack.ts'
import { VERSION } from '../src/version.ts'
import { temporaryFolder } from './helpers.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Modules that take long to load: packages, and parts of ours, by the beginning of the import path. */
const SCHEMAS = ['#typebox', 'ajv', 'ajv-formats', 're2js']
const SERVICE = ['express', 'helmet', 'pino', 'http/handlers', 'http/openapi', 'mcp/']
const STORE = ['better-sqlite3', 'store/sqlite/']
const POLICIES = ['yaml', 'json-rules-engine', 'policies/', 'authoring/']

/** Entries, and commands when they are named, with what they may not load before it is needed. */
const MAY_NOT_LOAD: Record<string, readonly string[]> = {
  'cli/main.ts': [...SCHEMAS, ...SERVICE, ...STORE, ...POLICIES, 'client/'],
  'cli/hook/hook.ts': [...SCHEMAS, ...SERVICE, ...STORE, ...POLICIES, 'cli/hook/install'],
  'cli/hook/answer.ts': [...SCHEMAS, ...SERVICE, ...STORE, ...POLICIES],
  'cli/health.ts': [...SCHEMAS, ...SERVICE, ...STORE, ...POLICIES, 'client/'],
  'cli/policies/validate.ts': [...SERVICE, ...STORE, 'client/', 'authoring/starter', 'authoring/editor'],
  'cli/gate/check.ts': [...SERVICE, ...STORE, 'client/', 'authoring/starter', 'authoring/editor'],
  'cli/serve/serve.ts': [...SCHEMAS, ...SERVICE, ...STORE, ...POLICIES, 'client/', 'cli/serve/demo'],
  'service/server.ts': [
    'express',
    'helmet',
    'http/openapi',
    'http/console',
    'http/handlers.ts',
    'mcp/',
    'authoring/cases/',
    'authoring/starter',
  ],
  'store/sqlite/writer-worker.ts': [...SERVICE, ...SCHEMAS, ...POLICIES.slice(0, 2), 'actions/', 'http/'],
  'store/sqlite/verify-worker.ts': [...SERVICE, ...SCHEMAS, ...POLICIES.slice(0, 2), 'actions/', 'http/'],
}

for (const [entry, unwanted] of Object.entries(MAY_NOT_LOAD)) {
  test(`${entry} loads only what it needs at once`, () => {
    const found = [...loadedWith(entry)].filter((name) => unwanted.some((start) => name.startsWith(start)))
    assert.deepEqual(found, [])
  })
}

/** `import names from 'module'`, and the same of `export`. */
const IMPORT = /^(?:im|ex)port ([\w\s{},*]*?)from '([^']+)'/gm

/** Modules of src, and packages, that are loaded with a module of src; what is imported as it runs is not. */
function loadedWith(entry: string): Set<string> {
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    const text = readFileSync(join(ROOT, 'src', path), 'utf8')
    for (const [, names = '', specifier = ''] of text.matchAll(IMPORT)) {
      const isType = /^type\b/.test(names) || /^\{(\s*type [^,}]+,?)+\s*\} $/.test(names)
      if (isType || specifier.startsWith('node:')) continue
      if (specifier.startsWith('.')) load(join(dirname(path), specifier))
      else loaded.add(specifier)
    }
  }
  load(entry)
  return loaded
}

for (const name of ['backup-worker', 'verify-worker', 'writer-worker']) {
  test(`${name} opens one file of the program, since the limit of open files may be near`, () => {
    const text = readFileSync(join(ROOT, 'dist', `${name}.js`), 'utf8')
    const imported = [...text.matchAll(/\bimport\s*(?:[^'"();]+?from\s*)?["']([^'"]+)["']/g)].map(
      ([, specifier = '']) => specifier,
    )
    assert.ok(imported.includes('better-sqlite3'), 'the imports are found')
    assert.deepEqual(
      imported.filter((specifier) => specifier.startsWith('.')),
      [],
    )
  })
}

test('the version is told without loading the program', () => {
  const folder = temporaryFolder()
  // The start and package.json alone: there is no program to load.
  for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  for (const option of ['--version', '-V']) {
    const output = execFileSync(process.execPath, [join(folder, 'bin/gate-sidecar.js'), option], { encoding: 'utf8' })
    assert.equal(output, `${VERSION}\n`)
  }
})

test('a command that ends unfinished does not succeed', () => {
  const folder = temporaryFolder()
  for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/main.js'), 'export const finished = new Promise(() => {})')
  assert.equal(spawnSync(process.execPath, [join(folder, 'bin/gate-sidecar.js'), 'health']).status, 13)
})

/** Compiled code that a V8 with the flags of commands takes; the test's own process may have others. */
const IS_TAKEN = `
require(process.argv[1] + '/optimize-later.js').optimizeLater()
console.log(require(process.argv[1] + '/compiled.js').scriptOf(process.argv[2]).cachedDataRejected === false)`

test('commands about policies run what V8 compiled at the build', () => {
  const files = [join(ROOT, 'bin'), join(ROOT, 'dist/policies.cjs')]
  assert.equal(execFileSync(process.execPath, ['-e', IS_TAKEN, ...files], { encoding: 'utf8' }), 'true\n')
})

const HELP = 'check all policies and print every fault'
const CHANGED = HELP.toUpperCase()

test('what V8 compiled is left where the file was changed, or it is not whole', () => {
  const folder = temporaryFolder()
  for (const part of ['bin', 'package.json', 'dist/policies.cjs', 'dist/policies.cache'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  const [file, cache] = [join(folder, 'dist/policies.cjs'), join(folder, 'dist/policies.cache')]
  const help = () => {
    const { stdout } = spawnSync(process.execPath, [join(folder, 'bin/gate-sidecar.js'), 'validate', '--help'])
    return String(stdout)
  }
  const [source, code] = [readFileSync(file, 'utf8'), readFileSync(cache)]
  for (const other of [
    code.subarray(0, code.length / 2),
    code.subarray(0, 10),
    Buffer.alloc(0),
    Buffer.from(code).fill(0, 5000, 5100),
  ]) {
    writeFileSync(cache, other)
    assert.ok(help().includes(HELP))
  }
  // As long as before, since V8 compares the lengths.
  writeFileSync(file, source.replace(HELP, CHANGED))
  cpSync(join(ROOT, 'dist/policies.cache'), cache)
  assert.ok(help().includes(CHANGED))
})

test('a stack trace of the build names places in the source', () => {
  const file = join(ROOT, 'dist/main.js')
  const [hook, policies] = [join(ROOT, 'dist/hook.cjs'), join(ROOT, 'dist/policies.cjs')]
  for (const [path, told] of [
    [file, pathToFileURL(file).href],
    [hook, hook],
    [policies, policies],
  ] as const) {
    const before = readFileSync(path, 'utf8').split('blockUnlessAllowed()')[0]?.split('\n') ?? []
    const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`
    assert.match(inSource(`Error: x\n    at ${told}:${place}`), / \/\S+\/src\/cli\/\S+\.ts:\d+:\d+$/, path)
  }
  assert.equal(inSource('Error: x\n    at file:///nowhere/x.js:1:1'), 'Error: x\n    at file:///nowhere/x.js:1:1')
})
