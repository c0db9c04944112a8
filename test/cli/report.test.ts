import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { FORMATS } from '../../src/authoring/diagnostics/formats.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, onTerminal, run } from './program.ts'

/**
 * Policies with many faults: wide characters, a BOM, CRLF, tabs, JSON, other encodings, and texts that would steer a
 * terminal or a workflow. What is printed of them stands beside, written there by
 * `for f in text json github sarif; do ../../../bin/gate-sidecar.js validate --format $f >report.$f; done`
 */
const REPORTS = fileURLToPath(new URL('../testdata/reports/', import.meta.url))

const wanted = (format: string): string => readFileSync(join(REPORTS, `report.${format}`), 'utf8')
const versionless = (text: string): string => text.replace(/"semanticVersion":"[^"]*"/, '')

async function reported(format: string): Promise<string> {
  const { code, stdout, stderr } = await run(['validate', '--format', format], { cwd: REPORTS })
  assert.equal(code, 1)
  assert.equal(stderr, '')
  return stdout
}

for (const format of FORMATS) {
  test(`validate --format ${format}: every fault, as it was`, async () => {
    assert.equal(versionless(await reported(format)), versionless(wanted(format)))
  })
}

test('the formats tell the same faults in the same order', () => {
  const { diagnostics } = JSON.parse(wanted('json')) as { diagnostics: Record<string, unknown>[] }
  const all = diagnostics.map(({ file, line, column, severity, code }) => [file, line, column, severity, code])
  assert.ok(all.length > 30)
  const heads = wanted('text').matchAll(/^(\S.*?):(\d+):(\d+) (error|warning) (GATE\d{4}) /gm)
  const places = (found: string[]) => [found[1], Number(found[2]), Number(found[3]), found[4], found[5]]
  assert.deepEqual(Array.from(heads, places), all)
  const commands = wanted('github').matchAll(
    /^::(error|warning) file=policies\/([^,]*),line=(\d+),col=(\d+)\b.*?,?title=(GATE\d{4})::/gm,
  )
  const annotations = Array.from(commands, ([, severity, file = '', line, column, code]) => {
    return [file.replace('%2C', ',').replace('%25', '%'), Number(line), Number(column), severity, code]
  })
  assert.deepEqual(annotations, all)
  const { results, tool } = JSON.parse(wanted('sarif')).runs[0]
  const found = results.map(({ ruleId, ruleIndex, level, locations }: SarifResult) => {
    const { artifactLocation, region } = locations[0].physicalLocation
    assert.equal(tool.driver.rules[ruleIndex].id, ruleId)
    const file = decodeURIComponent(artifactLocation.uri).replace('policies/', '')
    return [file, region.startLine, region.startColumn, level, ruleId]
  })
  assert.deepEqual(found, all)
})

interface SarifResult {
  ruleId: string
  ruleIndex: number
  level: string
  locations: [
    { physicalLocation: { artifactLocation: { uri: string }; region: { startLine: number; startColumn: number } } },
  ]
}

const closed = (properties: object, required = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const TEXT = { type: 'string', minLength: 1 }
const MESSAGE = closed({ text: TEXT })
const COUNT = { type: 'integer', minimum: 1 }
const LEVEL = { enum: ['none', 'note', 'warning', 'error'] }

/** Used part of the SARIF 2.1.0 schema, closed: a member that is not named here was not looked up there. */
const SARIF = closed({
  $schema: { const: 'https://json.schemastore.org/sarif-2.1.0.json' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    minItems: 1,
    items: closed({
      tool: closed({
        driver: closed({
          name: TEXT,
          semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
          rules: {
            type: 'array',
            uniqueItems: true,
            items: closed({
              id: TEXT,
              shortDescription: MESSAGE,
              fullDescription: MESSAGE,
              help: MESSAGE,
              defaultConfiguration: closed({ level: LEVEL }),
            }),
          },
        }),
      }),
      originalUriBaseIds: closed({ '%SRCROOT%': closed({ description: MESSAGE }) }),
      columnKind: { const: 'utf16CodeUnits' },
      results: {
        type: 'array',
        items: closed({
          ruleId: TEXT,
          ruleIndex: { type: 'integer', minimum: 0 },
          level: LEVEL,
          message: MESSAGE,
          locations: {
            type: 'array',
            items: closed(
              {
                physicalLocation: closed({
                  artifactLocation: closed({
                    uri: { type: 'string', pattern: "^[A-Za-z0-9_.!~*'()%/-]+$" },
                    uriBaseId: TEXT,
                  }),
                  region: closed({ startLine: COUNT, startColumn: COUNT, endColumn: COUNT }, [
                    'startLine',
                    'startColumn',
                  ]),
                }),
                logicalLocations: { type: 'array', items: closed({ fullyQualifiedName: TEXT }) },
              },
              ['physicalLocation'],
            ),
          },
        }),
      },
    }),
  },
})

test('sarif has the members of SARIF 2.1.0 and no others', () => {
  const ajv = new Ajv2020({ allErrors: true })
  const log: unknown = JSON.parse(wanted('sarif'))
  assert.ok(ajv.validate(SARIF, log), ajv.errorsText())
})

test('what others wrote begins no line, and no command, of a workflow', () => {
  const lines = wanted('github').trimEnd().split('\n')
  const own = /^::(error|warning) file=[^,:]*,line=\d+,col=\d+(,endColumn=\d+)?,title=GATE\d{4}::/
  assert.deepEqual(
    lines.slice(0, -1).filter((line) => !own.test(line)),
    [],
  )
  assert.match(lines.at(-1) ?? '', /^2 policy sets: \d+ errors, \d+ warnings\.$/)
})

test('no format prints what steers a terminal', () => {
  for (const format of FORMATS) assert.doesNotMatch(wanted(format), /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, format)
})

const FAULTY = { 'acme/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\nrulez: []\n' }

test('colours: on terminals only, and not where NO_COLOR is set', async () => {
  const policies = temporaryFolder()
  writeFiles(policies, FAULTY)
  const command = `"${process.execPath}" "${BIN}" validate --policies "${policies}"`
  assert.match(
    onTerminal(command),
    /\p{Cc}\[31merror GATE1101\p{Cc}\[39m [\s\S]*\p{Cc}\[31m\^{5}\p{Cc}\[39m \p{Cc}\[36mdid you mean/u,
  )
  assert.doesNotMatch(onTerminal(command, { NO_COLOR: '1' }), /\p{Cc}\[/u)
  const { stdout } = await run(['validate', '--policies', policies])
  assert.doesNotMatch(stdout, /\p{Cc}\[/u)
})

test('a line is cut to the width of the terminal, so that the carets stand under the fault', () => {
  const policies = temporaryFolder()
  writeFiles(policies, { 'acme/main.yaml': `${FAULTY['acme/main.yaml']}description: ${'long '.repeat(100)}\n` })
  const command = `stty cols 60; "${process.execPath}" "${BIN}" validate --policies "${policies}"`
  const stdout = onTerminal(command, { NO_COLOR: '1' })
  const lines = stdout.split('\r\n').filter((line) => / \| /.test(line))
  assert.ok(lines.length >= 4, stdout)
  for (const line of lines) assert.ok(line.length <= 60, line)
})

test('paths: from the working folder on where the policies lie in it, else absolute', async () => {
  const root = temporaryFolder()
  writeFiles(join(root, 'deploy/policies'), FAULTY)
  const file = async (format: string, cwd: string): Promise<string> => {
    const { stdout } = await run(['validate', '--policies', join(root, 'deploy/policies'), '--format', format], { cwd })
    return /(?:file=|"uri":")([^,"]*)/.exec(stdout)?.[1] ?? ''
  }
  assert.equal(await file('github', root), 'deploy/policies/acme/main.yaml')
  assert.equal(await file('sarif', root), 'deploy/policies/acme/main.yaml')
  assert.equal(await file('github', join(root, 'deploy/policies')), 'acme/main.yaml')
  assert.equal(await file('github', temporaryFolder()), `${root}/deploy/policies/acme/main.yaml`)
  assert.equal(await file('sarif', temporaryFolder()), `file://${root}/deploy/policies/acme/main.yaml`)
})

test('--json is --format json, and contradicts another one', async () => {
  const { code, stderr } = await run(['validate', '--json', '--format', 'sarif'], { cwd: REPORTS })
  assert.equal(code, 2)
  assert.match(stderr, /--json means --format json; leave out --json or --format sarif/)
  const { stdout } = await run(['validate', '--json'], { cwd: REPORTS })
  assert.equal(stdout, wanted('json'))
})

test('a set without faults: no page is named, and the formats for programs are whole', async () => {
  const policies = temporaryFolder()
  writeFiles(policies, { 'acme/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: acme\n' })
  const of = async (format: string) => (await run(['validate', '--policies', policies, '--format', format])).stdout
  assert.equal(await of('text'), '1 policy set: 0 errors, 0 warnings.\n')
  assert.equal(await of('github'), '1 policy set: 0 errors, 0 warnings.\n')
  assert.equal(await of('json'), '{"valid":true,"diagnostics":[]}\n')
  assert.deepEqual(JSON.parse(await of('sarif')).runs[0].results, [])
})
