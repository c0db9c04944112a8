import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { editorSchema, testFileSchema } from '../src/authoring/editor/editor-schema.ts'
import { openApiDocument } from '../src/http/handlers.ts'
import { configSchema } from '../src/service/config-schema.ts'
import { alertRules } from './alerts.ts'
import { pythonApi, pythonEndpoints } from './client-python.ts'
import { clientTypes } from './client-types.ts'
import { reportBlock } from './reports.ts'
import { PARTS } from './tables.ts'

/**
 * Writes docs/openapi.json, the types of the clients, the schemas for editors, and the parts of the documents that come
 * from the code: `npm run docs`. Each part of docs/tables.ts stands between `<!-- from the code: NAME -->` and
 * `<!-- end -->`, and so does `report`, the output of `validate` for the policy before it. A test fails when one
 * differs from the code.
 */

const ROOT = new URL('../', import.meta.url)
/** Name of the part that depends on its page, unlike those of docs/tables.ts. */
const REPORT = 'report'
const MARKED = /(<!-- from the code: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** Fills each marked part of a document from the code. @throws Error for an unknown part */
export function filled(document: string): string {
  return document.replace(MARKED, (_, start: string, name: string, end: string, offset: number) => {
    const part = name === REPORT ? () => reportBlock(document.slice(0, offset)) : PARTS[name]
    if (part === undefined) throw new Error(`there is no part ${name}; there are ${PART_NAMES.join(', ')}`)
    return `${start}\n${part()}\n\n${end}`
  })
}

/** Names of the parts that stand somewhere in these documents. */
export function partsIn(documents: readonly string[]): Set<string> {
  return new Set(documents.flatMap((text) => Array.from(text.matchAll(MARKED), (match) => String(match[2]))))
}

export const PART_NAMES = [...Object.keys(PARTS), REPORT]

/** Every document for readers, by its path from the root. */
export function documents(): Map<string, string> {
  const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md'))
  const paths = ['README.md', 'CONTRIBUTING.md', ...pages.sort()]
  return new Map(paths.map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')]))
}

/** docs/openapi.json as it is served. */
export function openApiText(): string {
  return jsonText(openApiDocument())
}

/** Files that are generated as a whole, by their paths from the root. */
export function writtenFiles(): Map<string, string> {
  return new Map([
    ['docs/openapi.json', openApiText()],
    ['src/client/api.ts', clientTypes()],
    ['python/gate_sidecar/client/types.py', pythonApi()],
    ['python/gate_sidecar/client/_endpoints.py', pythonEndpoints()],
    ['docs/prometheus-rules.yml', alertRules()],
    ['schemas/policy.json', jsonText(editorSchema())],
    ['schemas/test.json', jsonText(testFileSchema())],
    ['schemas/config.json', jsonText(configSchema())],
  ])
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of writtenFiles()) writeFileSync(new URL(path, ROOT), text)
  for (const [path, text] of documents()) {
    const wanted = filled(text)
    if (wanted === text) continue
    writeFileSync(new URL(path, ROOT), wanted)
    process.stdout.write(`${path} is written anew.\n`)
  }
}
