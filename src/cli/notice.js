import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//
const LICENCE = /^(?:licen[cs]e|copying|notice)/i

/** Writes the names, versions and licence texts of the packages in a build, as their licences ask. */
export function writeNotice({ inputs }, file) {
  const folders = Object.keys(inputs).flatMap((path) => PACKAGE.exec(path)?.[1] ?? [])
  const parts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const texts = readdirSync(folder)
      .filter((entry) => LICENCE.test(entry))
      .map((entry) => readFileSync(join(folder, entry), 'utf8').trim())
    return [`${name} ${version}, ${license}`, ...texts].join('\n\n')
  })
  writeFileSync(file, `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}
