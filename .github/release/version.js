import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Part of `npm version`, after it has changed package.json and before it commits: puts the version into the Python
 * package, and the unreleased lines of the changelog under it. Exit 1 when there is nothing to release.
 */

const ROOT = new URL('../../', import.meta.url)
const CHANGELOG = new URL('CHANGELOG.md', ROOT)
const PYTHON = new URL('python/gate_sidecar/__init__.py', ROOT)
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
const python = readFileSync(PYTHON, 'utf8')
writeFileSync(PYTHON, python.replace(/^__version__ = ".*"$/m, `__version__ = "${version}"`))
