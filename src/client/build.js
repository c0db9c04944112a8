import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { inBrowsers } from './in-browsers.js'

/**
 * Makes the package @gate-sidecar/client in dist/client, which stands alone: each entry is one file without dependencies, and its
 * declarations are those that `tsc -p src/client` wrote, as far as the entry needs them.
 */

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '../..')
const PACKAGE = join(ROOT, 'dist/client')
/** Where src/client/tsconfig.json has them written, in the folders of src. */
const DECLARATIONS = join(ROOT, 'dist/declarations')
/** What a declaration imports: `from '…'`, or `import("…")` where the compiler names a type by itself. */
const IMPORTED = /(?<=\bfrom ['"]|\bimport\(['"])[^'"]+/g

/** What others import, and where it comes from. */
const ENTRIES = [
  { path: '.', file: 'index', source: 'index' },
  { path: './verify', file: 'verify', source: 'verify/verify', isLarge: true },
  ...['ai-sdk', 'claude-agent-sdk', 'langchain', 'openai-agents', 'tools'].map((name) => ({
    path: `./${name}`,
    file: name,
    source: `adapters/${name}`,
  })),
]

/** package.json of the package. What is true of the whole product stands in that of the product. */
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

/** Where each file of declarations in the package is from. */
const copied = new Map()

/** Copies a file of declarations, and those that it imports, into the one folder of the package. */
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
