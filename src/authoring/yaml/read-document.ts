import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { decodeText } from './encoding.ts'
import { jsonNodes } from './json-nodes.ts'
import { type Node, placeAt, sourceOf } from './node.ts'
import { plainYaml } from './plain-yaml.ts'
import { readYaml } from './read-yaml.ts'

/**
 * Reads the document of one file, with positions. Undefined, and reported, when the text cannot be read as one
 * document; refused constructs that leave the rest readable are reported and skipped.
 *
 * @param file Name in diagnostics; a file that ends in `.json` must be strict JSON.
 */
export function readDocument(file: string, bytes: Uint8Array, report: Report): Node | undefined {
  const empty = sourceOf(file, '')
  if (bytes.byteLength > LIMITS.fileBytes) {
    return report.add(
      'GATE1001',
      placeAt(empty, 0),
      `The file has more than ${LIMITS.fileBytes} bytes, which is what is read at most.`,
    )
  }
  const { text, fault } = decodeText(bytes)
  const source = { ...sourceOf(file, text), guessed: fault?.guessed }
  if (fault !== undefined) {
    const at = fault.place?.offset ?? 0
    report.add('GATE1002', placeAt(source, at, at + 1), `The file is not UTF-8 text: ${fault.reason}.`)
    if (!fault.readable || text.trim() === '') return undefined
  }
  if (!file.endsWith('.json')) return plainYaml(source) ?? readYaml(source, report)
  if (text.trim() !== '') return jsonNodes(source, report)
  return report.add('GATE1005', placeAt(source, 0), 'The file has no content; remove it, or write a policy.')
}
