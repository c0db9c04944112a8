import type { Json } from '../../base/json.ts'
import { DIAGNOSTICS, type DiagnosticCode, pageOf } from './codes.ts'
import type { Diagnostic } from './diagnostics.ts'

/** The name that tools which take SARIF give to the root of the repository. */
const ROOT = '%SRCROOT%'

/**
 * A SARIF 2.1.0 log of one run.
 *
 * @param fileOf The path of a diagnostic's file, relative to the root of the repository; or absolute
 */
export function sarifLog(
  diagnostics: readonly Diagnostic[],
  fileOf: (file: string) => string,
  version: string,
): { [name: string]: Json } {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'gate-sidecar', semanticVersion: version, rules: codes.map(ruleOf) } },
        originalUriBaseIds: { [ROOT]: { description: { text: 'The folder in which the command ran.' } } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => ({
          ...resultOf(diagnostic, fileOf(diagnostic.file)),
          ruleIndex: codes.indexOf(diagnostic.code),
        })),
      },
    ],
  }
}

function ruleOf(code: DiagnosticCode): Json {
  const { severity, title } = DIAGNOSTICS[code]
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: `${title}. ${CONSEQUENCES[severity]}` },
    help: { text: `Cause, example and fix: ${pageOf(code)}` },
    defaultConfiguration: { level: severity },
  }
}

const CONSEQUENCES = {
  error: 'The policy set does not come into force; the last one that was sound stays in force.',
  warning: 'The policy set comes into force all the same.',
} as const

function resultOf(diagnostic: Diagnostic, file: string): { [name: string]: Json } {
  const { code, severity, line, column, endColumn, message, path, suggestion } = diagnostic
  const region = { startLine: line, startColumn: column, ...(endColumn !== undefined && { endColumn }) }
  const place = { physicalLocation: { artifactLocation: locationOf(file), region } }
  const meant = suggestion === null ? '' : ` Did you mean \`${suggestion}\`?`
  return {
    ruleId: code,
    level: severity,
    message: { text: `${message}${meant}` },
    locations: [path === '' ? place : { ...place, logicalLocations: [{ fullyQualifiedName: path }] }],
  }
}

function locationOf(file: string): Json {
  const uri = file.split('/').map((part) => encodeURIComponent(part.toWellFormed()))
  return file.startsWith('/') ? { uri: `file://${uri.join('/')}` } : { uri: uri.join('/'), uriBaseId: ROOT }
}
