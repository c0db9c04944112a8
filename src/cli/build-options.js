import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Modules of src that threads start. */
export const THREADS = ['files/policy-worker-thread.ts', 'http/evidence/examine-worker.ts']

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

/** Modules that a package loads and nothing here uses: programs that are commands, and bodies in many encodings. */
const UNUSED = { commander: 'node:child_process', express: 'body-parser' }
const withoutUnused = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    for (const [name, path] of Object.entries(UNUSED)) {
      onResolve({ filter: new RegExp(`^${path}$`) }, ({ importer }) =>
        importer.includes(join('node_modules', name, '/')) ? { path: 'none', namespace: 'none' } : undefined,
      )
    }
    onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }))
  },
}

/** Options of the built program. Names stay, so that a stack is read without source maps, which packages leave out. */
export const PROGRAM = {
  ...OPTIONS,
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  plugins: [withoutUnused],
}

/** Options, beside those, of a program in one CommonJS file. */
export const COMMON_JS = {
  format: 'cjs',
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  define: { 'import.meta.url': 'moduleUrl' },
}
