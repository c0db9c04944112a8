import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { transform } from 'esbuild'

/** Modules of src that threads start. */
export const THREADS = [
  'files/policy-worker-thread.ts',
  'http/evidence/examine-worker.ts',
  'http/replay/replay-worker.ts',
]

/** Modules of src that threads of the store start. */
export const STORE_THREADS = [
  'store/sqlite/backup-worker.ts',
  'store/sqlite/verify-worker.ts',
  'store/sqlite/writer-worker.ts',
]

const require = createRequire(import.meta.url)

/** Modules of yaml for browsers. Those for Node.js read an environment variable for each token. */
const YAML = join(dirname(require.resolve('yaml/package.json')), 'browser/dist/index.js')

/** Options of esbuild for the program and for the tests. */
export const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['better-sqlite3'],
  alias: { '#typebox': 'typebox', yaml: YAML },
  // CommonJS packages call `require` for modules of Node.js.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
}

/**
 * Modules that a package loads and nothing here uses: programs that are commands, bodies in many encodings, queries that
 * nest, rules that an engine runs, the driver in C.
 */
const UNUSED = {
  commander: ['node:child_process'],
  express: ['body-parser', 'qs'],
  'json-rules-engine': ['hash-it', 'jsonpath-plus'],
  pg: ['./native'],
}
const withoutUnused = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    for (const [name, paths] of Object.entries(UNUSED)) {
      onResolve({ filter: new RegExp(`^(?:${paths.join('|')})$`) }, ({ importer }) =>
        importer.includes(join('node_modules', name, '/')) ? { path: 'none', namespace: 'none' } : undefined,
      )
    }
    onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }))
  },
}

/** Shortens the names inside packages, which nobody looks for in a stack. */
const withShortNames = {
  name: 'with-short-names',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, async ({ path }) => {
      const names = { minifyIdentifiers: true, sourcefile: path, sourcemap: 'inline', sourcesContent: false }
      const { code } = await transform(await readFile(path, 'utf8'), { ...names, target: OPTIONS.target })
      return { contents: code }
    })
  },
}

/** Options of the built program. Names of ours stay, so that a stack is read without source maps, which packages leave out. */
export const PROGRAM = {
  ...OPTIONS,
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  plugins: [withoutUnused, withShortNames],
}

/** Options, beside those, of a program in one CommonJS file. */
export const COMMON_JS = {
  format: 'cjs',
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'moduleUrl' },
}
