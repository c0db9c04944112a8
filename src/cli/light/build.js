import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { COMMON_JS, PROGRAM } from '../build-options.js'
import { writeNotice } from '../notice.js'

/** Builds the package @gate-sidecar/hook in dist/hook: hook and relay, without dependencies. */

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '../../..')
const PACKAGE = join(ROOT, 'dist/hook')

/** Builds the package.json of the package. Facts about the whole product come from that of the product. */
function manifest() {
  const { version, license, engines, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    name: '@gate-sidecar/hook',
    version,
    description: 'Asks gate-sidecar before each tool call of Claude Code or of an MCP server.',
    license,
    repository,
    type: 'commonjs',
    engines,
    bin: { 'gate-sidecar': 'bin/gate-sidecar.js' },
    exports: { './package.json': './package.json' },
    files: ['bin', 'NOTICE', 'sbom.cdx.json'],
  }
}

rmSync(PACKAGE, { recursive: true, force: true })
mkdirSync(join(PACKAGE, 'bin'), { recursive: true })
const { metafile } = await build({
  ...PROGRAM,
  ...COMMON_JS,
  entryPoints: [join(HERE, 'main.ts')],
  outfile: join(PACKAGE, 'bin/main.cjs'),
  sourcemap: false,
})
writeNotice(metafile, PACKAGE)
writeFileSync(join(PACKAGE, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
copyFileSync(join(HERE, 'gate-sidecar.js'), join(PACKAGE, 'bin/gate-sidecar.js'))
chmodSync(join(PACKAGE, 'bin/gate-sidecar.js'), 0o755)
copyFileSync(join(ROOT, 'bin/start.js'), join(PACKAGE, 'bin/start.js'))
copyFileSync(join(HERE, 'README.md'), join(PACKAGE, 'README.md'))
copyFileSync(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'))
