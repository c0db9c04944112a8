import { cpSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { OPTIONS, STORE_THREADS, THREADS } from '../src/cli/build-options.js'

/*
 * Builds the files of tests that are named, with the source that they test, into dist-test: a process then loads a few
 * files, where it loaded seven hundred. An argument is `bundle=file`.
 */

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** Beside src, so that paths relative to a source module resolve from its chunk too. */
const OUT = join(ROOT, 'dist-test')
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Outside src, a module finds its files by its own URL. */
const urlOfSource = {
  name: 'url-of-source',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (/^(src|node_modules)\//.test(path.slice(ROOT.length))) return undefined
      const text = await readFile(path, 'utf8')
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' }
    })
  },
}

const sources = process.argv.slice(2).map((entry) => entry.split('='))
const threads = [...STORE_THREADS, ...THREADS].map((path) => [basename(path, '.ts'), join('src', path)])
await build({
  ...OPTIONS,
  external: [...OPTIONS.external, ...Object.keys(devDependencies)],
  entryPoints: Object.fromEntries([...sources, ...threads]),
  absWorkingDir: ROOT,
  outdir: OUT,
  splitting: true,
  plugins: [urlOfSource],
})
cpSync(join(ROOT, 'src/store/sqlite/migrations'), join(OUT, 'migrations'), { recursive: true })
cpSync(join(ROOT, 'src/store/postgres/schema'), join(OUT, 'schema'), { recursive: true })
