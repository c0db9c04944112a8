import { type Line, paint } from '../output.ts'

/** A line of a comparison: kept, removed, or added. */
interface DiffLine {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** Consecutive lines, with their first positions in both texts, from 1. */
export interface Hunk {
  readonly before: number
  readonly after: number
  readonly lines: readonly DiffLine[]
}

/** Lines shown around a change. */
const CONTEXT = 3
/** Limit of compared pairs of lines; beyond it, all lines count as changed. */
const MAX_PAIRS = 4_000_000

const COLOURS = { '-': 'red', '+': 'green' } as const

/** The changes in a file, in the format of `diff -u`. */
export function diffLines(file: string, before: string, after: string): Line[] {
  const hunks = lineDiff(before, after).flatMap(({ before: from, after: to, lines }): Line[] => [
    [paint('cyan', `@@ -${from},${linesOf(lines, '-')} +${to},${linesOf(lines, '+')} @@`)],
    ...lines.map(({ mark, text }): Line => [mark === ' ' ? ` ${text}` : paint(COLOURS[mark], mark + text)]),
  ])
  return [[paint('bold', `--- ${file}`)], [paint('bold', `+++ ${file}`)], ...hunks]
}

/** The number of lines that the text before (-) or after (+) the changes has. */
function linesOf(lines: readonly DiffLine[], side: '-' | '+'): number {
  return lines.filter(({ mark }) => mark === ' ' || mark === side).length
}

/** The changes between two texts with some lines around each, as `diff -u` shows them. */
export function lineDiff(before: string, after: string): Hunk[] {
  const lines = compared(before.split('\n'), after.split('\n'))
  const changed = lines.flatMap(({ mark }, i) => (mark === ' ' ? [] : [i]))
  const hunks: Hunk[] = []
  for (let i = 0; i < changed.length; ) {
    const from = Math.max(0, (changed[i] ?? 0) - CONTEXT)
    let last = changed[i] ?? 0
    for (; i < changed.length && (changed[i] ?? 0) <= last + 2 * CONTEXT; i += 1) last = changed[i] ?? last
    const passed = lines.slice(0, from)
    hunks.push({
      before: 1 + linesOf(passed, '-'),
      after: 1 + linesOf(passed, '+'),
      lines: lines.slice(from, last + CONTEXT + 1),
    })
  }
  return hunks
}

function compared(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const room = Math.min(before.length, after.length) - start
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  const kept = (text: string): DiffLine => ({ mark: ' ', text })
  return [
    ...before.slice(0, start).map(kept),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(kept),
  ]
}

/** Diff by the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const out = (text = ''): DiffLine => ({ mark: '-', text })
  const into = (text = ''): DiffLine => ({ mark: '+', text })
  if (before.length * after.length > MAX_PAIRS) return [...before.map(out), ...after.map(into)]
  const width = after.length + 1
  // common[i * width + j]: length of the common subsequence of the rests from i and j.
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let j = 0
  for (let i = 0; i < before.length || j < after.length; ) {
    if (i < before.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i] ?? '' })
      i += 1
      j += 1
    } else if (i < before.length && (j >= after.length || at(i + 1, j) >= at(i, j + 1))) lines.push(out(before[i++]))
    else lines.push(into(after[j++]))
  }
  return lines
}
