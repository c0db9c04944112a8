import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TWINS = join(dirname(fileURLToPath(import.meta.url)), 'verify')

/** esbuild plugin that replaces Node's functions in the verifier with those of browsers. */
export const inBrowsers = {
  name: 'in browsers',
  setup({ onResolve }) {
    onResolve({ filter: /\/(bytes|ed25519)\.ts$/ }, ({ path, importer }) =>
      importer.startsWith(TWINS) ? undefined : { path: join(TWINS, basename(path)) },
    )
  },
}
