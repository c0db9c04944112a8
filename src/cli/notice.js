import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//
const LICENCE = /^(?:licen[cs]e|copying|notice)/i

/** Writes NOTICE, the licence texts of the packages in a build, and sbom.cdx.json, its bill of materials (CycloneDX 1.6). */
export function writeNotice({ inputs }, folder) {
  const folders = Object.keys(inputs).flatMap((path) => PACKAGE.exec(path)?.[1] ?? [])
  const packages = [...new Set(folders)].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const texts = readdirSync(path)
      .filter((entry) => LICENCE.test(entry))
      .map((entry) => readFileSync(join(path, entry), 'utf8').trim())
    return { name, version, license, texts }
  })
  const parts = packages.map(({ name, version, license, texts }) =>
    [`${name} ${version}, ${license}`, ...texts].join('\n\n'),
  )
  writeFileSync(join(folder, 'NOTICE'), `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill(packages), null, 2)}\n`)
}

/** Without time and serial number, so that equal sources give equal files. */
function bill(packages) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    components: packages.map(({ name, version, license }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name.replace(/^@/, '%40')}@${version}`,
      licenses: [{ expression: license }],
    })),
  }
}
