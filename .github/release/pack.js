import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Puts into release/ what a version consists of: the tarballs for npm, the wheel and the source distribution for Python,
 * the bills of materials, the source maps of the bundles, and the digests of all of them. Run it after `npm ci`, which
 * builds.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const OUT = join(ROOT, 'release')
/** Calls the build backend directly: a frontend such as `build` would be a download. */
const PYTHON = `import sys
sys.path.insert(0, sys.argv[1])
import build_backend
build_backend.build_wheel(sys.argv[2])
build_backend.build_sdist(sys.argv[2])`
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT)
const run = (...[command, ...args]) =>
  execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
for (const folder of ['.', './dist/client', './dist/hook'])
  run('npm', 'pack', folder, '--ignore-scripts', '--pack-destination', OUT)
for (const [folder, name] of [
  ['dist', 'gate-sidecar'],
  ['dist/client', 'gate-sidecar-client'],
  ['dist/hook', 'gate-sidecar-hook'],
])
  copyFileSync(join(ROOT, folder, 'sbom.cdx.json'), join(OUT, `${name}-${version}.cdx.json`))
run('python3', '-B', '-c', PYTHON, join(ROOT, 'python'), OUT)
const maps = readdirSync(join(ROOT, 'dist')).filter((name) => name.endsWith('.map'))
run('tar', '-czf', join(OUT, `gate-sidecar-${version}-maps.tar.gz`), '-C', 'dist', ...maps)
const digests = readdirSync(OUT).map((name) => {
  const digest = createHash('sha256')
    .update(readFileSync(join(OUT, name)))
    .digest('hex')
  return `${digest}  ${name}\n`
})
writeFileSync(join(OUT, 'SHA256SUMS.txt'), digests.join(''))
process.stdout.write(digests.join(''))
