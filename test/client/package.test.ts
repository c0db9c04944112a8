import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { trustFile } from '../../src/evidence/trust.ts'
import { VERSION } from '../../src/version.ts'
import { archive } from '../evidence/bundles.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'

/* What others install, packed and installed without any network. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGE = join(ROOT, 'dist/client')
const run = promisify(execFile)
const npm = (...args: string[]) => run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'])

/** Where the package is installed, as somebody does who has nothing else of this product. */
const app = temporaryFolder()
let tarball: Buffer
let packed: { version: string; files: { path: string }[] }

before(async () => {
  const { stdout } = await npm('pack', PACKAGE, '--json', '--pack-destination', app)
  const [made] = JSON.parse(stdout)
  packed = made
  tarball = readFileSync(join(app, made.filename))
  writeFiles(app, { 'package.json': '{"private": true, "type": "module"}' })
  await npm('install', join(app, made.filename), '--prefix', app)
})

test('the package has the version of the product, and nothing but what belongs to it', () => {
  assert.equal(packed.version, VERSION)
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), [
    'LICENSE',
    'README.md',
    'checks.d.ts',
    'package.json',
    'unusable-trust.d.ts',
    'verify.d.ts',
    'verify.js',
  ])
})

test('what its README shows verifies a bundle in Node.js', async () => {
  const { bundleOf, decide, trust } = await archive()
  const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8')) ?? []
  const bundle = await bundleOf(await decide(5))
  const show = async (evidence: object) => {
    writeFiles(app, { 'bundle.json': JSON.stringify(evidence), 'example.js': example })
    return (await run(process.execPath, ['example.js'], { cwd: app })).stdout
  }
  writeFiles(app, { 'trust.json': JSON.stringify(trustFile(trust)) })
  assert.equal(await show(bundle), 'true valid []\n')
  const forged = { ...bundle, exportedAt: bundle.decision.timestamp }
  assert.match(await show(forged), /^false invalid \[/)
})

const GOOD = `
import { UnusableTrust, type Verification, type VerifyOptions, verifyEvidence } from '@gate-sidecar/client/verify'

const options: VerifyOptions = { trust: new Uint8Array(), anchors: '', nowMs: 0 }
const found: Verification = verifyEvidence('{}', options)
const verdict: 'valid' | 'invalid' | 'incomplete' = found.verdict
const why: (string | null)[] = found.checks.map((check) => (check.result === 'ok' ? check.why : check.why.trim()))
const error: Error = new UnusableTrust(verdict + why.join())
export { error }
`
const BAD = `
import { verifyEvidence } from '@gate-sidecar/client/verify'

export const text: number = verifyEvidence({}).verdict
`
const RESOLUTIONS: [moduleResolution: string, module: string][] = [
  ['nodenext', 'nodenext'],
  ['bundler', 'esnext'],
]

/** What the compiler says of this program beside the package, whose own declarations it checks too. */
async function compiled(text: string, moduleResolution: string, module: string): Promise<string> {
  writeFiles(app, { 'app.ts': text })
  const options = { strict: 'true', skipLibCheck: 'false', noEmit: 'true', lib: 'es2022', moduleResolution, module }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const ran = run(process.execPath, [tsc, ...args, '--ignoreConfig', 'app.ts'], { cwd: app })
  return ran.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  )
}

for (const [moduleResolution, module] of RESOLUTIONS) {
  test(`its types stand alone, and tell right from wrong: ${moduleResolution}`, async () => {
    assert.equal(await compiled(GOOD, moduleResolution, module), '')
    const faults = (await compiled(BAD, moduleResolution, module)).match(/TS\d+/g)
    assert.deepEqual(faults, ['TS2322', 'TS2345'])
  })
}

test('publint finds nothing', async () => {
  const { messages } = await publint({
    pkgDir: join(app, 'node_modules/@gate-sidecar/client'),
    pack: false,
    strict: true,
  })
  assert.deepEqual(messages, [])
})

test('its types are not wrong for who imports', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball))
  assert.equal(analysis.types === false ? 'untyped' : analysis.types.kind, 'included')
  // It is for `import` alone: neither `require`, nor who resolves as before there were exports, gets it.
  const old = ['node10', 'node16-cjs']
  const problems = analysis.types === false ? [] : analysis.problems
  assert.deepEqual(
    problems.filter((problem) => !('resolutionKind' in problem && old.includes(problem.resolutionKind))),
    [],
  )
})
