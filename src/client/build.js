import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeNotice } from '../cli/notice.js'
import { inBrowsers } from './in-browsers.js'

/**
 * Builds the package @gate-sidecar/client in dist/client, which stands alone. Each entry is one file without
 * dependencies, once for `import` and once for `require`. Its declarations are those that `tsc -p src/client` wrote, as
 * far as the entry needs them.
 */

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '../..')
const PACKAGE = join(ROOT, 'dist/client')
/** Folder in which src/client/tsconfig.json puts the declarations, laid out as src. */
const DECLARATIONS = join(ROOT, 'dist/declarations')
/** Matches the imports of a declaration: `from '…'`, or `import("…")` where the compiler itself names a type. */
const IMPORTED = /(?<=\bfrom ['"]|\bimport\(['"])[^'"]+/g

/** Files of the package for each way to load it. */
const FORMATS = [
  { condition: 'import', format: 'esm', code: 'js', declarations: 'd.ts' },
  { condition: 'require', format: 'cjs', code: 'cjs', declarations: 'd.cts' },
]

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
  const { version, license, engines, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    name: '@gate-sidecar/client',
    version,
    description:
      'Asks gate-sidecar before an AI agent acts, and verifies its evidence offline. For browsers and Node.js.',
    license,
    repository,
    type: 'module',
    sideEffects: false,
    engines,
    main: './index.cjs',
    exports: {
      ...Object.fromEntries(ENTRIES.map(({ path, file }) => [path, conditions(file)])),
      './package.json': './package.json',
    },
    files: ['*.js', '*.cjs', '*.d.ts', '*.d.cts', 'NOTICE', 'sbom.cdx.json'],
  }
}

function conditions(file) {
  return Object.fromEntries(
    FORMATS.map(({ condition, code, declarations }) => [
      condition,
      { types: `./${file}.${declarations}`, default: `./${file}.${code}` },
    ]),
  )
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
  const text = readFileSync(from, 'utf8')
  for (const [specifier] of text.matchAll(IMPORTED)) {
    if (!specifier.startsWith('.')) throw new Error(`${from} imports ${specifier}, which is not in the package.`)
    copyDeclarations(join(dirname(from), dirname(specifier), `${basename(specifier, '.ts')}.d.ts`))
  }
  for (const { code, declarations } of FORMATS) {
    const local = text.replaceAll(IMPORTED, (specifier) => `./${basename(specifier, '.ts')}.${code}`)
    writeFileSync(join(PACKAGE, `${basename(name, '.d.ts')}.${declarations}`), local)
  }
}

rmSync(PACKAGE, { recursive: true, force: true })
mkdirSync(PACKAGE, { recursive: true })
const inputs = {}
for (const { file, source, isLarge = false } of ENTRIES) {
  for (const { format, code } of FORMATS) {
    const { metafile } = await build({
      entryPoints: [join(HERE, `${source}.ts`)],
      outfile: join(PACKAGE, `${file}.${code}`),
      bundle: true,
      format,
      platform: 'browser',
      target: 'es2022',
      minify: isLarge,
      legalComments: 'eof',
      metafile: true,
      logLevel: 'warning',
      plugins: [inBrowsers],
    })
    Object.assign(inputs, metafile.inputs)
  }
  copyDeclarations(join(DECLARATIONS, `client/${source}.d.ts`))
}
rmSync(DECLARATIONS, { recursive: true })
writeNotice({ inputs }, PACKAGE)
writeFileSync(join(PACKAGE, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
cpSync(join(HERE, 'README.md'), join(PACKAGE, 'README.md'))
cpSync(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'))
