import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Part of `npm version`, after it has changed package.json and before it commits: puts the version into the Python
 * package, the charts and the manifests, and the unreleased lines of the changelog under it. Exit 1 when there is nothing
 * to release.
 */

const ROOT = new URL('../../', import.meta.url)
const CHANGELOG = new URL('CHANGELOG.md', ROOT)
/** Lines that state the version, before it. The two spaces are those of a dependency, and of an image. */
const STATED = [
  ['python/gate_sidecar/__init__.py', /^__version__ = "/],
  ['deploy/helm/gate-sidecar/Chart.yaml', /^(?:version|appVersion): /],
  ['deploy/helm/agent/Chart.yaml', /^ {4}version: /],
  ['deploy/kubernetes/kustomization.yaml', /^ {4}newTag: /],
]
const UNRELEASED = '## [Unreleased]\n'

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
const changelog = readFileSync(CHANGELOG, 'utf8')
const [before, after] = changelog.split(UNRELEASED)
if (after === undefined || !/^\s*(?:### \w+\s+)?- /.test(after)) {
  console.error('CHANGELOG.md has no lines under [Unreleased]: write what changes for users first.')
  process.exit(1)
}
const date = new Date().toISOString().slice(0, 10)
writeFileSync(CHANGELOG, `${before}${UNRELEASED}\n## [${version}] - ${date}\n${after}`)
for (const [path, before] of STATED) {
  const file = new URL(path, ROOT)
  const stated = new RegExp(`(${before.source})[^"\\n]*`, 'gm')
  writeFileSync(file, readFileSync(file, 'utf8').replace(stated, `$1${version}`))
}
