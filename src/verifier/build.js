import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The offline verifier as one file without dependencies, for browsers and for @gate-sidecar/client/verify. */

const HERE = dirname(fileURLToPath(import.meta.url))

/** What Node does by itself, this does with what a browser has. */
const inBrowsers = {
  name: 'in browsers',
  setup({ onResolve }) {
    onResolve({ filter: /\/(bytes|ed25519)\.ts$/ }, ({ path, importer }) =>
      importer.startsWith(HERE) ? undefined : { path: join(HERE, path.slice(path.lastIndexOf('/') + 1)) },
    )
  },
}

await build({
  entryPoints: [join(HERE, 'verify.ts')],
  outfile: join(HERE, '../../dist/client/verify.js'),
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [inBrowsers],
})
