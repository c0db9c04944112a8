import { type Line, paint } from '../output.ts'
import { lineDiff } from './line-diff.ts'

const COLOURS = { '-': 'red', '+': 'green' } as const

/** The changes in a file, in the format of `diff -u`. */
export function diffLines(file: string, before: string, after: string): Line[] {
  const hunks = lineDiff(before, after).flatMap(({ before: from, after: to, lines }): Line[] => {
    const count = (mark: string): number => lines.filter((line) => line.mark !== mark).length
    return [
      [paint('cyan', `@@ -${from},${count('+')} +${to},${count('-')} @@`)],
      ...lines.map(({ mark, text }): Line => [mark === ' ' ? ` ${text}` : paint(COLOURS[mark], mark + text)]),
    ]
  })
  return [[paint('bold', `--- ${file}`)], [paint('bold', `+++ ${file}`)], ...hunks]
}
