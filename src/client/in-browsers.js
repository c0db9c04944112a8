import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TWINS = join(dirname(fileURLToPath(import.meta.url)), 'verify')

/** For esbuild: what Node does by itself, the verifier does with what a browser has. */
export const inBrowsers = {
  name: 'in browsers',
  setup({ onResolve }) {
    onResolve({ filter: /\/(bytes|ed25519)\.ts$/ }, ({ path, importer }) =>
      importer.startsWith(TWINS) ? undefined : { path: join(TWINS, basename(path)) },
    )
  },
}
