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
import { startGate, temporaryFolder, writeFiles } from '../helpers.ts'

/* What others install, packed and installed without any network. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGE = join(ROOT, 'dist/client')
const run = promisify(execFile)
const npm = (...args: string[]) => run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'])

const ADAPTERS = ['ai-sdk', 'claude-agent-sdk', 'langchain', 'openai-agents', 'tools']

/** Folder with the package installed, as for somebody who has nothing else of this product. */
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
  const entries = [...ADAPTERS, 'index', 'verify']
  const declared = ['adapter', 'answer', 'api', 'checks', 'client', 'connection', 'endpoints', 'errors', 'events']
  const declaredToo = ['guard', 'permit', 'provenance', 'session', 'tool-calls', 'unusable-trust', 'verification']
  const expected = [
    ...['LICENSE', 'NOTICE', 'README.md', 'package.json', 'sbom.cdx.json'],
    ...entries.flatMap((name) => [`${name}.js`, `${name}.cjs`]),
    ...[...entries, ...declared, ...declaredToo].flatMap((name) => [`${name}.d.ts`, `${name}.d.cts`]),
  ]
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected.sort())
})

/** Returns the example under a heading of the README. */
function exampleUnder(heading: string): string {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
  const [, example = ''] = /```js\n(.*?)```/s.exec(readme.slice(readme.indexOf(heading))) ?? []
  return example
}

test('what its README shows runs what a sidecar allows, and tells why not where there is none', async (t) => {
  const gate = await startGate(t)
  const { secret } = await gate.key({ roles: ['agent'] })
  writeFiles(app, { 'gated.js': exampleUnder('## Ask before acting') })
  const show = async (url: string): Promise<string> => {
    const env = { ...process.env, GATE_API_KEY: secret, GATE_URL: url }
    return (await run(process.execPath, ['gated.js'], { cwd: app, env })).stdout
  }
  assert.equal(await show(gate.server.url), 'paid 25\n')
  assert.match(await show('http://127.0.0.1:1'), /^payment.transfer was not allowed: http:\S+ cannot be reached/)
})

test('what its README shows verifies a bundle in Node.js', async () => {
  const { bundleOf, decide, trust } = await archive()
  const example = exampleUnder('## Verify evidence')
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
const GOOD_CALLER = `
${ADAPTERS.map((name, i) => `import * as adapter${i} from '@gate-sidecar/client/${name}'`).join('\n')}
import { ActionRefused, type Decision, GateClient, GateError } from '@gate-sidecar/client'

const gate = new GateClient({ tenantId: 'acme', apiKey: 'x', timeout: 1, retries: 0, mode: 'observe' })
export const decision: Promise<Decision> = gate.decide({ action: 'a', context: { b: 1 } }, { wait: 25_000, signal: new AbortController().signal })
export const paid: Promise<number> = gate.guard({ action: 'a' }, ({ decision }) => decision?.riskScore ?? 0)
const session = gate.session({ userRequest: '' })
export const size: Promise<number> = session.call('read', { path: 'x' }, ({ path }) => path.length)
export const tools: { a: { execute: () => number } } = adapter0.gateTools(session, { a: { execute: () => 1 } })
export { adapter1, adapter2, adapter3, adapter4 }
export const listed: Promise<string[]> = gate.approvals.list({ status: 'pending' }).then(({ data, page }) => data.map(({ id }) => id + page.total))
export const level = async () => (await gate.killSwitch.status()).level satisfies 'L1' | 'L2' | 'L3' | 'L4' | null
export const why = (error: unknown) => (error instanceof GateError ? error.code : error instanceof ActionRefused ? error.reason : '')
`
const BAD_CALLER = `
import { GateClient } from '@gate-sidecar/client'

const gate = new GateClient({ tenantId: 'acme' })
export const paid: Promise<string> = gate.guard({ action: 'a' }, () => 1)
gate.decide({ action: 'a', contxt: {} })
gate.killSwitch.trigger({ level: 'L5', reason: 'x', triggeredBy: 'x' })
gate.session({ userRequest: '' }).call('read', { path: 1 }, ({ path }) => path.length)
`
/** Ways to resolve modules, and the file of a program that imports or requires the package that way. */
const RESOLUTIONS: [moduleResolution: string, module: string, file: string][] = [
  ['nodenext', 'nodenext', 'app.ts'],
  ['node16', 'node16', 'app.cts'],
  ['bundler', 'esnext', 'app.ts'],
]

/** Returns the compiler's output for this program beside the package, whose own declarations it checks too. */
async function compiled(
  text: string,
  lib: string,
  [moduleResolution, module, file]: (typeof RESOLUTIONS)[number],
): Promise<string> {
  writeFiles(app, { [file]: text })
  const options = { strict: 'true', skipLibCheck: 'false', noEmit: 'true', lib, moduleResolution, module }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const ran = run(process.execPath, [tsc, ...args, '--ignoreConfig', file], { cwd: app })
  return ran.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  )
}

for (const resolution of RESOLUTIONS) {
  test(`its types stand alone, and tell right from wrong: ${resolution[0]}, ${resolution[2]}`, async () => {
    assert.equal(await compiled(GOOD, 'es2022', resolution), '')
    const faults = (await compiled(BAD, 'es2022', resolution)).match(/TS\d+/g)
    assert.deepEqual(faults, ['TS2322', 'TS2345'])
    assert.equal(await compiled(GOOD_CALLER, 'es2022,dom', resolution), '')
    const wrong = (await compiled(BAD_CALLER, 'es2022,dom', resolution)).match(/TS\d+/g)
    assert.deepEqual(wrong, ['TS2741', 'TS2322', 'TS2561', 'TS2322', 'TS2339'])
  })
}

/** Names that the examples use without declaring them. */
const EXAMPLE_NAMES = `
import * as client from '@gate-sidecar/client'
import { gateToolCalls } from '@gate-sidecar/client/langchain'
import { gateTool } from '@gate-sidecar/client/openai-agents'

declare const process: { env: Record<string, string | undefined> }
declare const gate: client.GateClient
declare const session: client.GateSession
declare const recipient: string, amount: number
declare function pay(payment: unknown): Promise<string>
declare function readFile(path: string): Promise<string>
declare function createMiddleware(middleware: object): object
declare class ToolMessage { constructor(answer: object) }
declare const sdk: { tool(definition: object): { name: string } }
const { GateClient } = client
`

/** Examples in the comments of a declaration file. */
function examplesIn(file: string): string[] {
  const text = readFileSync(join(PACKAGE, file), 'utf8')
  return [...text.matchAll(/@example\n(.*?)\*\//gs)].map(([, lines = '']) => lines.replaceAll(/^ *\* ?/gm, ''))
}

test('the examples in its comments compile as they are', async () => {
  const examples = packed.files.flatMap(({ path }) => (path.endsWith('.d.ts') ? examplesIn(path) : []))
  assert.equal(examples.length, 4)
  const functions = examples.map((lines, i) => `export async function example${i}() {\n${lines}}\n`)
  const [resolution = assert.fail()] = RESOLUTIONS
  assert.equal(await compiled(EXAMPLE_NAMES + functions.join(''), 'es2022,dom', resolution), '')
})

test('what requires it gets what what imports it gets', async () => {
  const names = `(all) => Object.keys(all).filter((name) => name !== 'default' && name !== 'module.exports').sort().join()`
  for (const entry of ['', ...ADAPTERS.map((name) => `/${name}`), '/verify']) {
    const loads = `const name = '@gate-sidecar/client${entry}', names = ${names}
      import(name).then((all) => console.log(names(all) === names(require(name)) && names(all) !== ''))`
    writeFiles(app, { 'load.cjs': loads })
    assert.equal((await run(process.execPath, ['load.cjs'], { cwd: app })).stdout, 'true\n', entry)
  }
})

test('its package.json can be read through its name, as that of the other packages', async () => {
  writeFiles(app, { 'load.cjs': `console.log(require('@gate-sidecar/client/package.json').version)` })
  assert.equal((await run(process.execPath, ['load.cjs'], { cwd: app })).stdout, `${VERSION}\n`)
})

test('publint finds nothing', async () => {
  const { messages } = await publint({
    pkgDir: join(app, 'node_modules/@gate-sidecar/client'),
    pack: false,
    strict: true,
  })
  assert.deepEqual(messages, [])
})

test('its types are right for every way to resolve modules', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball))
  assert.equal(analysis.types === false ? 'untyped' : analysis.types.kind, 'included')
  assert.deepEqual(analysis.types === false ? [] : analysis.problems, [])
})
