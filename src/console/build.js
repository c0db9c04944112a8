import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeNotice } from '../cli/notice.js'
import { inBrowsers } from '../client/in-browsers.js'

/**
 * Makes the web console in dist/console: one page, and beside it scripts and styles whose names change with their content, so that a
 * browser may keep them for ever. What verifies evidence is a script of its own, loaded when somebody drops a bundle.
 */

const HERE = dirname(fileURLToPath(import.meta.url))
const OUT = join(HERE, '../../dist/console')

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })
const { metafile } = await build({
  entryPoints: [join(HERE, 'main.tsx'), join(HERE, 'styles/console.css'), join(HERE, 'icon.svg')],
  outdir: join(OUT, 'assets'),
  // Without the folder, which says nothing to a browser.
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  plugins: [inBrowsers],
})

/** The file that the build made with this beginning and end, as the page names it. */
function built(beginning, end) {
  const name = Object.keys(metafile.outputs)
    .map((path) => relative(OUT, path))
    .find((path) => path.startsWith(`assets/${beginning}-`) && path.endsWith(end))
  if (name === undefined) throw new Error(`The build made no ${beginning}${end}.`)
  return `/console/${name}`
}

const page = readFileSync(join(HERE, 'index.html'), 'utf8')
  .replace('{{icon}}', built('icon', '.svg'))
  .replace('{{styles}}', built('console', '.css'))
  .replace('{{script}}', built('main', '.js'))
writeFileSync(join(OUT, 'index.html'), page)
writeNotice(metafile, join(OUT, 'NOTICE'))
