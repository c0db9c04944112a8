import { grouped } from '../../base/grouped.ts'
import { visible } from '../../base/visible.ts'
import type { CoverageItem } from './coverage.ts'

/**
 * Coverage in the lcov format (geninfo(1)), which editors and CI services show beside the source. Each line with a
 * rule, factor or comparison is a line (DA); each possible outcome is a branch of it (BRDA), in the order true,
 * false, unknown, decided.
 *
 * @param pathOf where a file such as `acme/main.yaml` lies
 */
export function lcovOf(items: readonly CoverageItem[], pathOf: (file: string) => string): string {
  const files = grouped(items, ({ file }) => file)
  return [...files].map(([file, inFile]) => recordOf(pathOf(file), inFile)).join('')
}

function recordOf(path: string, items: readonly CoverageItem[]): string {
  const lines = grouped(items, ({ line }) => line)
  const branches = [...lines].flatMap(([line, onLine]) =>
    onLine.flatMap((item, block) => branchesOf(item, line, block)),
  )
  const hits = [...lines].map(([line, onLine]) => ({
    line,
    times: onLine.reduce((most, { asked }) => Math.max(most, asked), 0),
  }))
  return [
    'TN:',
    // A line break in the name of a file would begin a record of its own.
    `SF:${visible(path)}`,
    ...branches.map(({ text }) => text),
    `BRF:${branches.length}`,
    `BRH:${branches.filter(({ taken }) => taken > 0).length}`,
    ...hits.map(({ line, times }) => `DA:${line},${times}`),
    `LF:${hits.length}`,
    `LH:${hits.filter(({ times }) => times > 0).length}`,
    'end_of_record\n',
  ].join('\n')
}

function branchesOf({ asked, seen }: CoverageItem, line: number, block: number): { text: string; taken: number }[] {
  return [...seen.values()].map((taken, branch) => ({
    // A dash says that the line was not even reached.
    text: `BRDA:${line},${block},${branch},${asked === 0 ? '-' : taken}`,
    taken,
  }))
}
