import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar } from 'yaml'
import type { Json } from '../../base/json.ts'
import { codePointOf } from '../../base/visible.ts'
import type { Report } from '../diagnostics/report.ts'
import { mendYaml, readBefore } from '../repair/mend.ts'
import { Verbatim } from '../suggest/written.ts'
import { blanked, controlCharacters, MAX_CONTROLS } from './encoding.ts'
import { commentedItem, type Meant, meantPair, type Pair, swallowedItem } from './meant-pairs.ts'
import {
  childPath,
  type Entry,
  firstKeyOf,
  isHeld,
  NOT_HELD,
  type Node,
  type Place,
  placeAt,
  type Source,
} from './node.ts'
import { type Parsed, parseYaml } from './parse.ts'
import { mappingOf } from './repeated-keys.ts'
import { reportSyntax } from './syntax.ts'
import { inspectTokens } from './tokens.ts'

/** The one document of a YAML 1.2 text (core schema) as nodes; undefined, and reported, when it is not well-formed. */
export function readYaml(original: Source, report: Report): Node | undefined {
  const written = withoutControls(original, report)
  if (written === undefined) return undefined
  const first = parseYaml(written)
  const isFaulty = first.faults.length > 0 || first.inspection.templates.length > 0
  const mended = isFaulty ? mendYaml(written, first) : { source: written, parsed: first, mendings: [] }
  for (const { place, message, suggestion } of mended.mendings) report.add('GATE1003', place, message, suggestion)
  const { tokens, inspection } = mended.parsed
  if (inspection.isFaulty) inspectTokens(tokens, mended.source, report)
  if (inspection.tooDeep) return undefined
  const isReadable = reportSyntax(mended.parsed, mended.source, report)
  const [, second] = mended.parsed.documents
  if (second !== undefined) {
    report.add(
      'GATE1006',
      placeAt(mended.source, second.range[0]),
      'A file holds one document; put the others into files of their own.',
    )
  }
  const read = isReadable ? mended : readBefore(mended)
  return read && contentsOf(read.parsed, read.source, report)
}

function contentsOf({ documents }: Parsed, source: Source, report: Report): Node | undefined {
  const contents = documents.map((one) => one.contents).find((one) => one && !isEmpty(one))
  if (contents) return toNode(contents, { source, report, path: '$', fallback: placeAt(source, 0) })
  const comments = source.text.trim() === '' ? '' : ' but comments'
  return report.add('GATE1005', placeAt(source, 0), `The file has no content${comments}; remove it, or write a policy.`)
}

/** The text with spaces in place of control characters, which are reported: YAML allows none, even in quotes. */
function withoutControls(source: Source, report: Report): Source | undefined {
  const found = controlCharacters(source.text, MAX_CONTROLS + 1)
  const [first] = found
  if (first === undefined) return source
  if (found.length > MAX_CONTROLS) {
    const message = `The file has more than ${MAX_CONTROLS} control characters, the first of them ${codePointOf(source.text.charAt(first))}; it is not YAML.`
    return report.add('GATE1003', placeAt(source, first, first + 1), message)
  }
  for (const { start, end } of runsOf(found)) {
    const sign = codePointOf(source.text.charAt(start))
    const what =
      end - start === 1
        ? `The control character ${sign}`
        : `A run of ${end - start} control characters, the first ${sign},`
    report.add('GATE1003', placeAt(source, start, end), `${what} cannot stand in YAML; remove it.`)
  }
  return { ...source, text: blanked(source.text), guessed: [...(source.guessed ?? []), ...found] }
}

/** Stretches of offsets that follow each other. */
function runsOf(offsets: readonly number[]): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = []
  for (const at of offsets) {
    const last = runs.at(-1)
    if (last?.end === at) last.end = at + 1
    else runs.push({ start: at, end: at + 1 })
  }
  return runs
}

function isEmpty(contents: ParsedNode): boolean {
  return isScalar(contents) && contents.value === null && contents.range[0] === contents.range[1]
}

interface Reading {
  source: Source
  report: Report
  path: string
  /** The key, at which a value that is not written is reported. */
  fallback: Place
}

function toNode(parsed: ParsedNode | null, at: Reading): Node {
  if (parsed === null || isAlias(parsed)) return leafNode(null, parsed?.range ?? undefined, at)
  if (isMap(parsed)) return mapNode(parsed.items as Pair[], parsed.range, at)
  if (isSeq(parsed)) {
    const items = parsed.items.map((item, i) => {
      const one = item as ParsedNode | null
      const swallowed = swallowedItem(one, at.path, at.source)
      if (swallowed !== undefined && one !== null) {
        at.report.silence(placeIn(one.range, at))
        at.report.add('GATE1003', swallowed.place, swallowed.message)
      }
      const dash = dashBefore(one, at)
      const below = { ...at, path: childPath(at.path, i), fallback: dash }
      const commented = dash === at.fallback ? undefined : commentedItem(one, dash.end, at.path, at.source)
      if (commented === undefined) return toNode(one, below)
      at.report.add('GATE1003', commented.fault.place, commented.fault.message, commented.fault.suggestion)
      return leafNode(commented.text, commented.range, below)
    })
    return {
      ...leafNode(
        items.map(({ value }) => value),
        parsed.range,
        at,
      ),
      items,
    }
  }
  const mark = parsed.range[0] === parsed.range[1] ? markBefore(parsed, at) : undefined
  const range = mark === undefined ? parsed.range : [mark, mark + 1]
  return leafNode(scalarValue(parsed, range, at), range, at)
}

/** The dash, at which an item that is not written is reported. */
function dashBefore(item: ParsedNode | null, { source, path, fallback }: Reading): Place {
  const isWritten = item === null || item.range[1] > item.range[0]
  const dash = isWritten ? -1 : source.text.lastIndexOf('-', item.range[0] - 1)
  return dash < fallback.start ? fallback : { source, path, start: dash, end: dash + 1 }
}

/** A value of only a tag or an anchor has the place of that mark. */
function markBefore(parsed: ParsedNode | null, { source, fallback }: Reading): number | undefined {
  if (parsed === null || isAlias(parsed) || (parsed.tag === undefined && !parsed.anchor)) return undefined
  const mark = source.text.slice(fallback.end, parsed.range[0]).search(/[!&]/)
  return mark < 0 ? undefined : fallback.end + mark
}

function leafNode(value: Json, range: readonly number[] | undefined, at: Reading): Node {
  return { ...placeIn(range, at), value }
}

function placeIn(range: readonly number[] | undefined, { source, path, fallback }: Reading): Place {
  const [start = fallback.start, end = start] = range ?? []
  const written = end > start
  return { source, path, start: written ? start : fallback.start, end: written ? end : fallback.end }
}

function mapNode(pairs: readonly Pair[], range: readonly number[], at: Reading): Node {
  const entries: Entry[] = []
  for (let i = 0; i < pairs.length; ) {
    const pair = pairs[i]
    if (pair === undefined) break
    const meant = meantPair(pairs, i, at.path, at.source)
    const entry = meant === undefined ? readEntry(pair, at) : meantEntry(pair, meant, at)
    if (entry !== undefined) entries.push(entry)
    i += meant?.count ?? 1
  }
  const node = { ...placeIn(range, at), ...mappingOf(entries, at.report) }
  // Entries that seem to be missing may be those left out.
  if (hasGap(pairs, range, at.source)) at.report.silence(firstKeyOf(node))
  return node
}

/** True when entries of the mapping itself were left out, not of its values. */
function hasGap(
  pairs: readonly Pair[],
  [start = 0, end = 0, nodeEnd = end]: readonly number[],
  { gaps = [] }: Source,
): boolean {
  const isInside = (gap: number) =>
    pairs.some(({ value }) => {
      const [from = 0, to = 0] = value?.range ?? []
      return from < gap && gap < to
    })
  return gaps.some((gap) => start <= gap && gap <= nodeEnd && !isInside(gap))
}

/** Reports the intended meaning, and silences faults of its value, which is not what is written. */
function meantEntry(pair: Pair, { code, mending, name, value }: Meant, at: Reading): Entry {
  const path = childPath(at.path, name)
  at.report.add(code, { ...mending.place, path }, mending.message, mending.suggestion)
  const key: Place = { ...placeIn(pair.key.range, at), path }
  const below = { ...at, path, fallback: key }
  if ('pairs' in value) {
    const [first, last] = [value.pairs[0], value.pairs.at(-1)]
    const end = last?.value?.range[1] ?? last?.key.range[1] ?? key.end
    return { name, key, value: mapNode(value.pairs, [first?.key.range[0] ?? key.start, end], below) }
  }
  const number = Number(value.text)
  const node = leafNode(Number.isFinite(number) ? number : value.text, [value.start, value.end], below)
  at.report.silence(node)
  return { name, key, value: node }
}

function readEntry({ key, value }: Pair, at: Reading): Entry | undefined {
  const place = placeIn(key.range, at)
  if (!isScalar(key) || typeof key.value !== 'string') {
    const message = isScalar(key)
      ? 'A key must be text; put it in quotes.'
      : 'A key must be text; a text that begins with a bracket stands in quotes.'
    const quoted = isScalar(key) && key.source ? new Verbatim(JSON.stringify(key.source)) : undefined
    at.report.add('GATE1013', place, message, quoted)
    toNode(value, { ...at, fallback: place })
    return undefined
  }
  const path = childPath(at.path, key.value)
  const keyPlace: Place = { ...place, path }
  if (!key.value.isWellFormed()) return at.report.add('GATE1016', keyPlace, 'The key has half of a surrogate pair.')
  return { name: key.value, key: keyPlace, value: toNode(value, { ...at, path, fallback: keyPlace }) }
}

function scalarValue({ value, source }: Scalar, range: readonly number[], at: Reading): Json {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value
    at.report.add('GATE1016', placeIn(range, at), 'The text has half of a surrogate pair.')
    return ''
  }
  if (typeof value === 'number') {
    if (isHeld(value, source ?? String(value))) return value
    const message = `The number is infinite, undefined, ${NOT_HELD}`
    at.report.add('GATE1015', placeIn(range, at), message)
    return 0
  }
  return typeof value === 'boolean' ? value : null
}
