import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { inBrowsers } from './in-browsers.js'

/**
 * Builds the package @gate-sidecar/client in dist/client, which stands alone. Each entry is one file without
 * dependencies. Its declarations are those that `tsc -p src/client` wrote, as far as the entry needs them.
 */

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '../..')
const PACKAGE = join(ROOT, 'dist/client')
/** Folder in which src/client/tsconfig.json puts the declarations, laid out as src. */
const DECLARATIONS = join(ROOT, 'dist/declarations')
/** Matches the imports of a declaration: `from '…'`, or `import("…")` where the compiler itself names a type. */
const IMPORTED = /(?<=\bfrom ['"]|\bimport\(['"])[^'"]+/g

/** Entry points of the package, and their sources. */
const ENTRIES = [
  { path: '.', file: 'index', source: 'index' },
  { path: './verify', file: 'verify', source: 'verify/verify', isLarge: true },
  ...['ai-sdk', 'claude-agent-sdk', 'langchain', 'openai-agents', 'tools'].map((name) => ({
    path: `./${name}`,
    file: name,
    source: `adapters/${name}`,
  })),
]

/** Builds the package.json of the package. Facts about the whole product come from that of the product. */
function manifest() {
  const { version, license, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    name: '@gate-sidecar/client',
    version,
    description:
      'Asks gate-sidecar before an AI agent acts, and verifies its evidence offline. For browsers and Node.js.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: Object.fromEntries(
      ENTRIES.map(({ path, file }) => [path, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
    ),
    files: ['*.js', '*.d.ts'],
  }
}

/** Source of each declaration file in the package. */
const copied = new Map()

/** Copies a declaration file and its imports into the one folder of the package. */
function copyDeclarations(from) {
  const name = basename(from)
  const other = copied.get(name)
  if (other === from) return
  if (other !== undefined) throw new Error(`${from} and ${other} would be one file of the package.`)
  copied.set(name, from)
  const text = readFileSync(from, 'utf8').replaceAll(IMPORTED, (specifier) => {
    if (!specifier.startsWith('.')) throw new Error(`${from} imports ${specifier}, which is not in the package.`)
    const module = basename(specifier, '.ts')
    copyDeclarations(join(dirname(from), dirname(specifier), `${module}.d.ts`))
    return `./${module}.js`
  })
  writeFileSync(join(PACKAGE, name), text)
}

rmSync(PACKAGE, { recursive: true, force: true })
mkdirSync(PACKAGE, { recursive: true })
for (const { file, source, isLarge = false } of ENTRIES) {
  await build({
    entryPoints: [join(HERE, `${source}.ts`)],
    outfile: join(PACKAGE, `${file}.js`),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: isLarge,
    legalComments: 'eof',
    logLevel: 'warning',
    plugins: [inBrowsers],
  })
  copyDeclarations(join(DECLARATIONS, `client/${source}.d.ts`))
}
rmSync(DECLARATIONS, { recursive: true })
writeFileSync(join(PACKAGE, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
cpSync(join(HERE, 'README.md'), join(PACKAGE, 'README.md'))
cpSync(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'))
