import { blocksOf } from '../test/docs/page.ts'
import { exampleReader, isPolicyBlock } from '../test/docs/policy-block.ts'

/** Output of `validate` for the last policy on a page, less the count at its end, as a block of Markdown. */
export function reportBlock(page: string): string {
  const read = exampleReader()
  const reports = blocksOf(page)
    .blocks.filter(isPolicyBlock)
    .map((block) => read(block).report)
  return ['```text', reports.at(-1) ?? '', '```'].join('\n')
}
