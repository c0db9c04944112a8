import type { Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { HEADER, LISTS, testdata, testdataNames } from './sources.ts'

/** Files of one tenant, and the faults that they ought to have. */
export interface Case {
  readonly name: string
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly lists: ReadonlyMap<string, Uint8Array | { problem: string }>
  readonly wanted: readonly Wanted[]
}

interface Wanted {
  /** `acme/main.yaml:3:1 GATE1101` */
  readonly spot: string
  /** Undefined when any will do, or none. */
  readonly suggestion: string | undefined
}

/**
 * The cases of a file of testdata/policies/sets. `=== name` begins a case, `--- file options` a file of it; without the
 * latter the text is main.yaml. The header of policies and tests is put before the text, unless the option `raw` is given or
 * the file is JSON. `«1101»` stands before what has that fault, `«1101=rules»` also says what is suggested; `\u{a0}` is a
 * character. Options: crlf, latin1, utf16, bom16 (with a BOM), dir (a list that is a folder).
 */
export function casesOf(file: string): Case[] {
  const [, ...blocks] = testdata(`sets/${file}`).toString().split(/^=== /m)
  return blocks.map((block) => {
    const end = block.indexOf('\n')
    const body = block.slice(end + 1)
    const [, ...parts] = body.startsWith('--- ') ? body.split(/^--- /m) : ['', `main.yaml\n${body}`]
    return readCase(`${file}: ${block.slice(0, end)}`, parts)
  })
}

function readCase(name: string, parts: readonly string[]): Case {
  const files = new Map<string, Uint8Array>()
  const lists = new Map<string, Uint8Array | { problem: string }>()
  const wanted: Wanted[] = []
  for (const part of parts) {
    const [head = '', ...lines] = part.split('\n')
    const [file = '', ...options] = head.split(' ')
    const isList = file.startsWith('lists/')
    const hasHeader = !isList && !file.endsWith('.json') && !options.includes('raw')
    const text = (hasHeader ? HEADER : '') + lines.join('\n')
    const plain = withoutMarks(file, text.replace(/\\u\{([0-9a-f]+)\}/g, characterOf), wanted)
    const bytes = encoded(options.includes('crlf') ? plain.replaceAll('\n', '\r\n') : plain, options)
    if (!isList) files.set(file, bytes)
    else lists.set(file, options.includes('dir') ? { problem: 'is not a file' } : bytes)
  }
  return { name, files, lists, wanted }
}

function characterOf(_: string, code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}

function withoutMarks(file: string, text: string, wanted: Wanted[]): string {
  let plain = ''
  for (const [i, part] of text.split(/«([^»]*)»/).entries()) {
    if (i % 2 === 0) {
      plain += part
      continue
    }
    const before = plain.replace(/^\ufeff/, '')
    const [code = '', ...suggestion] = part.split('=')
    const column = before.length - before.lastIndexOf('\n')
    const spot = `acme/${file}:${before.split('\n').length}:${column} GATE${code}`
    wanted.push({ spot, suggestion: suggestion.join('=') || undefined })
  }
  return plain
}

function encoded(text: string, options: readonly string[]): Uint8Array {
  if (options.includes('latin1')) return Buffer.from(text, 'latin1')
  if (!options.includes('utf16')) return Buffer.from(text)
  return Buffer.from((options.includes('bom16') ? '\ufeff' : '') + text, 'utf16le')
}

/** All that ought to be refused: the documents of `invalid`, and the sets that are not valid. */
export function brokenCases(): Case[] {
  const documents = testdataNames('invalid').filter((name) => /^(?!hostile-).*\.(?:yaml|json)$/.test(name))
  const single = documents
    .filter((name) => name !== 'expected.json')
    .map((name): Case => {
      const file = `main.${name.endsWith('.json') ? 'json' : 'yaml'}`
      return { name, files: new Map([[file, testdata(`invalid/${name}`)]]), lists: LISTS, wanted: [] }
    })
  const sets = testdataNames('sets').filter((name) => name !== 'valid.txt')
  return [...single, ...sets.flatMap(casesOf)]
}

export function loadCase({ files, lists }: Pick<Case, 'files' | 'lists'>): readonly Diagnostic[] {
  const bytes = [...files].map(([name, content]) => ({ name, bytes: content }))
  return loadPolicySet({ tenant: 'acme', files: bytes, lists, ignored: [] }).diagnostics
}

export function spotOf({ file, line, column, code }: Diagnostic): string {
  return `${file}:${line}:${column} ${code}`
}

/** Returns the report of all broken cases as authors see it: comparing the file shows a change of any sentence. */
export function reportOfAll(): string {
  const lines = brokenCases().flatMap((one) => [
    '',
    `=== ${one.name}`,
    ...loadCase(one).map((diagnostic) => {
      const { file, line, column, endColumn, code, message, suggestion } = diagnostic
      const end = endColumn === undefined ? '' : `-${endColumn}`
      return `${file}:${line}:${column}${end} ${code} ${message}${suggestion === null ? '' : ` => ${suggestion}`}`
    }),
  ])
  const head = 'What authors are told. Written by: node --import tsx test/authoring/write-report.ts'
  return `${[head, ...lines].join('\n')}\n`
}
