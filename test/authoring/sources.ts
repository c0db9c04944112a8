import { readdirSync, readFileSync } from 'node:fs'
import type { Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import { type LoadResult, loadPolicySet } from '../../src/authoring/load/load.ts'
import type { PolicySet } from '../../src/policies/set.ts'

export const TESTDATA = new URL('../testdata/policies/', import.meta.url)

export const LISTS: ReadonlyMap<string, Uint8Array | { problem: string }> = new Map([
  ['lists/sanctioned.txt', Buffer.from('\ufeff# ISO codes\r\nIR\r\n  KP \r\n\r\n')],
  ['lists/latin1.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9])],
])

/** Loads files as those of the tenant acme, whose header may be left out of texts. */
export function load(files: Record<string, string | Uint8Array>, lists = LISTS, ignored: string[] = []): LoadResult {
  return loadPolicySet({
    tenant: 'acme',
    files: Object.entries(files).map(([name, content]) => ({ name, bytes: Buffer.from(content) })),
    lists,
    ignored,
  })
}

export const HEADER = 'apiVersion: gate-sidecar/v1\ntenant: acme\n'

/** The set of one policy text without header. @throws when it has an error. */
export function setOf(text: string, lists = LISTS): PolicySet {
  const { set, diagnostics } = load({ 'main.yaml': HEADER + text }, lists)
  if (set === undefined) throw new Error(`the policy has errors: ${JSON.stringify(diagnostics)}`)
  return set
}

export function spots(diagnostics: readonly Diagnostic[]): [string, number, number][] {
  return diagnostics.map(({ code, line, column }) => [code, line, column])
}

export function testdataNames(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, TESTDATA)).sort()
}

export function testdata(path: string): Buffer {
  return readFileSync(new URL(path, TESTDATA))
}

/** Takes `«2005»` out of a text: faults with these codes are wanted where the marks stood. */
export function marked(text: string): { text: string; wanted: [string, number, number][] } {
  const wanted: [string, number, number][] = []
  let plain = ''
  for (const [i, part] of text.split(/«(\d{4})»/).entries()) {
    if (i % 2 === 0) plain += part
    else wanted.push([`GATE${part}`, plain.split('\n').length, plain.length - plain.lastIndexOf('\n')])
  }
  return { text: plain, wanted }
}
