import { grouped } from '../../base/grouped.ts'
import { DIAGNOSTICS, type DiagnosticCode } from '../diagnostics/codes.ts'
import type { Diagnostic } from '../diagnostics/diagnostics.ts'
import type { Report } from '../diagnostics/report.ts'
import { lexemesOf } from '../format/layout.ts'
import { Verbatim } from '../suggest/written.ts'
import { entriesOf, itemsOf, type Node, type Place, placeAt, positionOf, type Source } from '../yaml/node.ts'

/** A comment `# lint-ignore GATE2007: reason`, and the stretch that it applies to. */
export interface Ignore {
  readonly comment: Place
  readonly code: DiagnosticCode
  /** Offsets in the file. */
  readonly from: number
  readonly to: number
}

const BEGINS = /^#\s*lint-ignore\b/
const FORM = /^#\s*lint-ignore\s+([A-Za-z]+[0-9]*)\s*:\s*\S/
/** Most such comments of a set, and most lines between one and its target: each is compared with each warning of its code. */
const MAX_IGNORES = 2000
const MAX_ABOVE = 50
/** Codes of faults of the comments themselves. */
const OWN: ReadonlySet<string> = new Set(['GATE2021', 'GATE2022', 'GATE2023', 'GATE2024'])

/** The lint-ignore comments of documents and list files; malformed ones are reported. JSON has no comments. */
export function readIgnores(
  documents: readonly { readonly root: Node }[],
  lists: readonly Source[],
  report: Report,
): Ignore[] {
  const read = (root: Node, comments: readonly Place[]): Ignore[] =>
    comments.flatMap((comment) => {
      const code = readCode(comment, report)
      return code === undefined ? [] : [{ comment, code, ...reachOf(comment, root) }]
    })
  const ignores = [
    ...documents.flatMap(({ root }) => read(root, commentsOf(root.source, lexemesOf))),
    ...lists.flatMap((list) => read({ ...placeAt(list, 0), value: null }, commentsOf(list, linesOf))),
  ]
  const [first] = ignores.slice(MAX_IGNORES)
  if (first !== undefined) {
    const message = `A set has at most ${MAX_IGNORES} of these comments; from here on they count for nothing.`
    report.add('GATE2021', first.comment, message)
  }
  return ignores.slice(0, MAX_IGNORES)
}

function commentsOf(source: Source, split: typeof lexemesOf): Place[] {
  const { file, text } = source
  if (file.endsWith('.json') || !text.includes('lint-ignore')) return []
  return [...split(text)].flatMap(({ start, lexeme }) =>
    BEGINS.test(lexeme) ? [placeAt(source, start, start + lexeme.trimEnd().length)] : [],
  )
}

/** The lines of a list file, each without the spaces before it. */
function* linesOf(text: string): Generator<{ start: number; lexeme: string }> {
  for (const { 0: lexeme, index: start } of text.matchAll(/\S.*/g)) yield { start, lexeme }
}

/** Diagnostics that no comment ignores. A comment that ignores nothing is reported, if its code was `looked` for. */
export function withoutIgnored(
  report: Report,
  ignores: readonly Ignore[],
  looked: (code: DiagnosticCode) => boolean,
): readonly Diagnostic[] {
  const byCode = grouped(ignores, ({ code }) => code)
  const used = new Set<Ignore>()
  const ignored = new Set<Diagnostic>()
  for (const diagnostic of report.diagnostics()) {
    for (const ignore of byCode.get(diagnostic.code) ?? []) {
      if (!covers(ignore, diagnostic)) continue
      used.add(ignore)
      ignored.add(diagnostic)
    }
  }
  for (const { comment, code } of ignores.filter((ignore) => !used.has(ignore) && looked(ignore.code))) {
    const message = `There is no ${code} here. Take the comment out, or put it on the line of what it ignores or above it.`
    report.add('GATE2024', comment, message)
  }
  return report.diagnostics().filter((diagnostic) => !ignored.has(diagnostic))
}

function readCode(comment: Place, report: Report): DiagnosticCode | undefined {
  const text = comment.source.text.slice(comment.start, comment.end)
  const name = FORM.exec(text)?.[1]
  if (name === undefined) {
    const message = 'The comment needs one code and a reason: # lint-ignore GATE2007: why this is meant.'
    report.add('GATE2021', comment, message)
    return undefined
  }
  const code = codeOf(name)
  if (code === undefined) {
    // No suggestion for a wrong number: many codes are equally near.
    const meant = codeOf(name.toUpperCase())
    const suggestion = meant && new Verbatim(text.replace(name, meant))
    report.add('GATE2022', comment, `There is no code ${name}.`, suggestion)
    return undefined
  }
  if (DIAGNOSTICS[code].severity === 'warning' && !OWN.has(code)) return code
  report.add(
    'GATE2023',
    comment,
    `${code} cannot be ignored: only warnings about policies can. Correct what it is about.`,
  )
  return undefined
}

function codeOf(name: string): DiagnosticCode | undefined {
  return Object.keys(DIAGNOSTICS).find((code): code is DiagnosticCode => code === name)
}

/**
 * The stretch that a comment covers: its own line. A comment on a line of its own covers the item or entry that
 * begins on the next line with content.
 */
function reachOf(comment: Place, root: Node): Pick<Ignore, 'from' | 'to'> {
  const { source } = comment
  const line = positionOf(source, comment.start).line
  const before = source.text.slice(startOf(source, line), comment.start)
  if (before.trim() !== '') return { from: startOf(source, line), to: comment.start }
  // Comments of several lines, and several comments, may stand above.
  let next = line + 1
  const isBare = (at: number): boolean => {
    const text = source.text.slice(startOf(source, at), startOf(source, at + 1)).trim()
    return text === '' || text.startsWith('#')
  }
  while (next < line + MAX_ABOVE && isBare(next)) next += 1
  const from = startOf(source, next)
  const until = startOf(source, next + 1)
  return { from, to: Math.max(until, endOfPart(root, from, until)) }
}

function startOf({ lineStarts, text }: Source, line: number): number {
  return lineStarts[line - 1] ?? text.length
}

/** The end of the outermost item or entry that begins between two offsets. */
function endOfPart(root: Node, from: number, until: number): number {
  const parts = [
    ...itemsOf(root).map((value) => ({ start: value.start, value })),
    ...entriesOf(root).map(({ key, value }) => ({ start: key.start, value })),
  ]
  for (const { start, value } of parts) {
    if (start >= from && start < until) return value.end
    if (start < from && value.end > from) return endOfPart(value, from, until)
  }
  return from
}

function covers({ comment, from, to }: Ignore, { file, line, column }: Diagnostic): boolean {
  const { source } = comment
  if (source.file !== file) return false
  const at = startOf(source, line) + column - 1
  return at >= from && at < to
}
