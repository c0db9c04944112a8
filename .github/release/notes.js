import { readFileSync } from 'node:fs'

/** Prints the changelog of the version in package.json, for the page of its release. Exit 1 when it has none. */

const ROOT = new URL('../../', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
const sections = readFileSync(new URL('CHANGELOG.md', ROOT), 'utf8').split(/^## /m)
const notes = sections.find((section) => section.startsWith(`[${version}]`))
if (notes === undefined) {
  console.error(`CHANGELOG.md has no section [${version}]: run \`npm version\`, which writes it.`)
  process.exit(1)
}
console.log(notes.replace(/^.*\n+/, ''))
