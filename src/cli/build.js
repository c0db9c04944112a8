import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeNotice } from './notice.js'

/**
 * Makes the program in dist: one file for each entry, and chunks for what several of them load or what is loaded when first used.
 * All lie in one folder, so that an address beside a module of the source is beside its chunk too.
 */

const SRC = join(dirname(fileURLToPath(import.meta.url)), '..')
const OUT = join(SRC, '../dist')

/** Files that Node.js starts: the command line, and what runs in threads. */
const ENTRIES = [
  'cli/main.ts',
  'files/policy-worker-thread.ts',
  'http/evidence/examine-worker.ts',
  'store/sqlite/verify-worker.ts',
  'store/sqlite/writer-worker.ts',
]

/** Commander would load it with each command, for programs that are commands of others. There are none. */
const noChildProcess = {
  name: 'no-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[/\\]commander[/\\]/.test(importer) ? { path: 'none', namespace: 'none' } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }))
  },
}

const options = {
  outdir: OUT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['better-sqlite3'],
  alias: { '#typebox': 'typebox' },
  // Packages that are CommonJS ask for modules of Node.js.
  banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
}

mkdirSync(OUT, { recursive: true })
// A chunk of an earlier build has another name.
for (const name of readdirSync(OUT)) if (/\.js(\.map)?$/.test(name) && name !== 'typebox.js') rmSync(join(OUT, name))
const { metafile } = await build({
  ...options,
  entryPoints: ENTRIES.map((path) => join(SRC, path)),
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  plugins: [noChildProcess],
})

/** The file that the build made of what is loaded when first used, by its source. */
const loadedLater = new Map(
  Object.entries(metafile.outputs).flatMap(([output, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[resolve(entryPoint), `./${basename(output)}`]],
  ),
)

/** An agent waits for the hook at each call of a tool: what it usually loads is one file, which takes 18 ms less than 19. */
const hookInOneFile = {
  name: 'hook-in-one-file',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      const isLater = kind === 'dynamic-import' && !/\/(hook|answer)\.ts$/.test(path)
      return isLater ? { path: loadedLater.get(join(resolveDir, path)), external: true } : undefined
    })
  },
}
await build({
  ...options,
  entryPoints: { hook: join(SRC, 'cli/main.ts') },
  plugins: [noChildProcess, hookInOneFile],
})

writeNotice(metafile, join(OUT, 'NOTICE'))
cpSync(join(SRC, 'store/sqlite/migrations'), join(OUT, 'migrations'), { recursive: true })
