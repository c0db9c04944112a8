import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { writeNotice } from '../cli/notice.js'
import { inBrowsers } from '../client/in-browsers.js'

/**
 * Builds the web console in dist/console: one page, with scripts and styles whose names contain a hash,
 * so that browsers may cache them for ever. The verifier of evidence is a separate script, loaded for a dropped bundle.
 */

const HERE = import.meta.dirname
const OUT = join(HERE, '../../dist/console')

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })
export const { metafile } = await build({
  entryPoints: [join(HERE, 'main.tsx'), join(HERE, 'styles/console.css'), join(HERE, 'icon.svg')],
  outdir: join(OUT, 'assets'),
  // File names omit the folder, which means nothing to a browser.
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

/** The built file with this beginning and end, by the name that the page uses. */
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
writeNotice(metafile, OUT)
