import { decodeUtf8, type JsonLimits, parseJson } from '../base/json.ts'
import type { DiagnosticCode } from './codes.ts'
import { jsonNodes } from './json-nodes.ts'
import { LIMITS } from './limits.ts'
import { type Node, placeAt, type Source, sourceOf } from './node.ts'
import type { Report } from './report.ts'
import { readYaml } from './yaml.ts'

const BOM = '\ufeff'
const JSON_LIMITS: JsonLimits = { maxDepth: LIMITS.depth }

/** What the strict parser's sentences begin with, where the same fault of a YAML file has a code of its own. */
const JSON_FAULTS: readonly [string, DiagnosticCode][] = [
  ['Nesting deeper', 'GATE1014'],
  ['Duplicate key', 'GATE1011'],
  ['The key "__proto__"', 'GATE1012'],
  ['The number is too large', 'GATE1015'],
  ['The integer is outside', 'GATE1015'],
  ['The string has a lone surrogate', 'GATE1016'],
]

/**
 * The document of one file, with positions. Undefined, and reported, when the text cannot be read as
 * one document; refused constructs that leave the rest readable are reported and read around.
 *
 * @param file As diagnostics name it; a name that ends in `.json` is held to strict JSON.
 */
export function readDocument(file: string, bytes: Uint8Array, report: Report): Node | undefined {
  const empty = sourceOf(file, '')
  if (bytes.byteLength > LIMITS.fileBytes) {
    report.add(
      'GATE1001',
      placeAt(empty, 0),
      `The file has more than ${LIMITS.fileBytes} bytes, which is what is read at most.`,
    )
    return undefined
  }
  const text = decode(bytes)
  if (text === undefined) {
    report.add('GATE1002', placeAt(empty, 0), 'The file is not UTF-8 text.')
    return undefined
  }
  const source = sourceOf(file, text)
  if (!file.endsWith('.json')) return readYaml(source, report)
  return isStrictJson(source, report) ? jsonNodes(source, report) : undefined
}

/** The text without its BOM, or undefined when the bytes are not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = decodeUtf8(bytes)
    return text.startsWith(BOM) ? text.slice(BOM.length) : text
  } catch {
    return undefined
  }
}

function isStrictJson(source: Source, report: Report): boolean {
  try {
    parseJson(source.text, JSON_LIMITS)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // The offset is part of the parser's sentence, which is its only account of the place.
    const [, sentence = message, offset = '0'] = /^(.*) \(at offset (\d+)\)\.$/s.exec(message) ?? []
    const at = placeAt(source, Number(offset))
    if (source.text.trim() === '') report.add('GATE1005', placeAt(source, 0), 'The file is empty.')
    else report.add(JSON_FAULTS.find(([begins]) => sentence.startsWith(begins))?.[1] ?? 'GATE1004', at, `${sentence}.`)
    return false
  }
}
