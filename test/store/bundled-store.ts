import { rmSync, symlinkSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const SQLITE = fileURLToPath(new URL('../../src/store/sqlite/', import.meta.url))
/** Folder from which packages are resolved. */
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url))

type BundledStore = typeof import('../../src/store/sqlite/store.ts') &
  typeof import('../../src/store/sqlite/writers.ts')

/** The store from src as few files, since a thread that runs from source takes a second to start. */
export async function bundledStore(): Promise<BundledStore> {
  const outdir = await mkdtemp(join(MODULES, '.store-'))
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: ['store.ts', 'writers.ts', 'writer-worker.ts'].map((name) => join(SQLITE, name)),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    alias: { '#typebox': 'typebox' },
    logLevel: 'warning',
  })
  symlinkSync(join(SQLITE, 'migrations'), join(outdir, 'migrations'))
  const load = (name: string) => import(pathToFileURL(join(outdir, name)).href)
  return { ...(await load('store.js')), ...(await load('writers.js')) }
}
