import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { VERSION } from '../../src/version.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'

/* The workflow that releases, and the files it publishes, made in a copy of the project as the workflow makes them. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGES = ['gate-sidecar', '@gate-sidecar/client', '@gate-sidecar/hook']
const run = promisify(execFile)

interface Job {
  if?: string
  environment?: string
  permissions: Record<string, string>
  steps: { name?: string; uses?: string; run?: string; with?: Record<string, unknown> }[]
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const { jobs }: { jobs: Record<string, Job> } = parse(read('.github/workflows/release.yml'))

/** Runs the step of the workflow with this name, as GitHub would. */
function runStep(name: string, cwd: string, env: Record<string, string>) {
  const step = Object.values(jobs)
    .flatMap(({ steps }) => steps)
    .find((one) => one.name === name)
  const { PATH = '', HOME = '' } = process.env
  return run('bash', ['-e', '-c', step?.run ?? assert.fail(name)], { cwd, env: { PATH, HOME, ...env } })
}

/** Files of an earlier build, or of somebody, which no package may have. */
const STRAYS = [
  'bin/stray.txt',
  'dist/stray-AAAAAAAA.js',
  'dist/client/stray.js',
  'dist/console/assets/stray-AAAAAAAA.js',
  'dist/hook/bin/stray.js',
  'dist/migrations/0099_stray.sql',
  'policies/demo/stray.txt',
  'schemas/stray.txt',
]
const copy = temporaryFolder()

before(async () => {
  const folders = ['.github', 'bin', 'docs/errors', 'policies', 'python', 'schemas', 'src']
  for (const path of [...folders, 'CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  writeFiles(copy, Object.fromEntries(STRAYS.map((path) => [path, ''])))
  const repository = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'acme/gate' }
  await runStep('the packages name this repository', copy, repository)
  await run('npm', ['run', 'build'], { cwd: copy })
  await run('npm', ['run', 'pack'], { cwd: copy })
})

const tarballs = (): string[] => readdirSync(join(copy, 'release')).filter((name) => name.endsWith('.tgz'))

test('the workflow publishes the three packed files, and no repository of a like name', async () => {
  const { stdout } = await runStep('npm packages, with provenance', copy, {
    npm_config_dry_run: 'true',
    npm_config_offline: 'true',
  })
  const published = stdout.split('\n').filter((line) => line.startsWith('+ '))
  assert.deepEqual(published.sort(), PACKAGES.map((name) => `+ ${name}@${VERSION}`).sort())
})

test('each npm package names the repository of the workflow, without which npm refuses its provenance', async () => {
  for (const name of tarballs()) {
    const { stdout } = await run('tar', ['-xzOf', join(copy, 'release', name), 'package/package.json'])
    assert.deepEqual(JSON.parse(stdout).repository, { type: 'git', url: 'git+https://git.example/acme/gate.git' }, name)
  }
  assert.equal(tarballs().length, PACKAGES.length)
})

test('a job that may write runs no code of packages, and only after the approval of a pushed tag', () => {
  const writing = Object.entries(jobs).filter(([, { permissions }]) => Object.values(permissions).includes('write'))
  assert.deepEqual(
    writing.map(([name, job]) => [name, job.environment, job.if]),
    [['publish', 'release', "github.event_name == 'push'"]],
  )
  const scripts = writing.flatMap(([, { steps }]) => steps.map((step) => step.run ?? ''))
  assert.doesNotMatch(scripts.join('\n'), /npm (?:ci|i|install|run|test)\b|\bpip\b|docker (?:buildx )?build\b/)
  for (const [name, { steps }] of Object.entries(jobs))
    assert.ok(name === 'publish' || !JSON.stringify(steps).includes('secrets.'), name)
})

test('a release without a registry, or with an image in another one, stops before it signs in', async () => {
  const { steps } = jobs.publish ?? assert.fail()
  const step = 'the variables name the registry, and an image in it'
  assert.equal(steps[0]?.name, step)
  const check = (IMAGE_REGISTRY: string, IMAGE: string) => runStep(step, copy, { IMAGE_REGISTRY, IMAGE })
  await check('registry.example', 'registry.example/acme/gate')
  await assert.rejects(check('', '/acme/gate'), /IMAGE_REGISTRY: is not set/)
  for (const image of ['', 'acme/gate', 'registry.example', 'registry.example/', 'registry.example.org/acme/gate'])
    await assert.rejects(check('registry.example', image), /IMAGE must begin with/, image)
})

for (const name of readdirSync(join(ROOT, '.github/workflows'))) {
  test(`${name} names actions by commits, with their versions, and keeps no credential in a checkout`, () => {
    const text = read(`.github/workflows/${name}`)
    const uses = [...text.matchAll(/\buses: (.*)/g)].map(([, action = '']) => action)
    assert.ok(uses.length > 0)
    const movable = uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))
    assert.deepEqual(movable, [])
    const all: { jobs: Record<string, Job> } = parse(text)
    const steps = Object.values(all.jobs).flatMap((job) => job.steps)
    const checkouts = steps.filter((step) => step.uses?.startsWith('actions/checkout@'))
    assert.ok(checkouts.every((step) => step.with?.['persist-credentials'] === false))
  })
}

test('SHA256SUMS.txt has the digest of every other file of the release, the Python packages among them', () => {
  const release = join(copy, 'release')
  const files = readdirSync(release).filter((name) => name !== 'SHA256SUMS.txt')
  assert.deepEqual(
    files.filter((name) => name.startsWith('gate_sidecar')),
    [`gate_sidecar-${VERSION}-py3-none-any.whl`, `gate_sidecar-${VERSION}.tar.gz`],
  )
  const digest = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex')
  const sums = readFileSync(join(release, 'SHA256SUMS.txt'), 'utf8')
  assert.equal(sums, files.map((name) => `${digest(name)}  ${name}\n`).join(''))
})

test('the documented identity of the signer is the release workflow of the repository at a tag, and nothing like it', () => {
  const [, pattern = ''] = /--certificate-identity-regexp '([^']+)'/.exec(read('docs/releasing.md')) ?? []
  const identity = new RegExp(pattern.replace('OWNER/REPOSITORY', 'acme/gate'))
  const host = 'https://github.com'
  const workflow = `${host}/acme/gate/.github/workflows/release.yml`
  assert.match(`${workflow}@refs/tags/v1.2.3`, identity)
  for (const other of [
    `${workflow}@refs/heads/main`,
    `${host}/acme/gate/.github/workflows/ci.yml@refs/tags/v1.2.3`,
    `${host}/acme/gate-fork/.github/workflows/release.yml@refs/tags/v1.2.3`,
    `${host}/evil/${workflow}@refs/tags/v1.2.3`,
    `${workflow.replace('github.com', 'github-com')}@refs/tags/v1.2.3`,
  ])
    assert.doesNotMatch(other, identity)
})

test('the bill and the licences of gate-sidecar include what its console bundles', () => {
  const bill = (folder: string): string[] => {
    const text = readFileSync(join(copy, folder, 'sbom.cdx.json'), 'utf8')
    return JSON.parse(text).components.map(({ name, version }: Record<string, string>) => `${name} ${version}`)
  }
  const notice = readFileSync(join(copy, 'dist/NOTICE'), 'utf8')
  const packages = bill('dist')
  assert.ok(bill('dist/console').some((one) => one.startsWith('preact ')))
  for (const one of bill('dist/console')) {
    assert.ok(packages.includes(one), one)
    assert.ok(notice.includes(`${one}, `), one)
  }
})

test('no package has a file of an earlier build, or one that somebody left beside its own', async () => {
  const listings = tarballs().map((name) => run('tar', ['-tzf', join(copy, 'release', name)]))
  const paths = (await Promise.all(listings)).flatMap(({ stdout }) => stdout.split('\n'))
  assert.deepEqual(
    paths.filter((path) => path.includes('stray')),
    [],
  )
})
