/** A fenced block of a page. */
export interface Block {
  /** The first word after the fence; empty when there is none. */
  language: string
  /** The words after it. */
  words: readonly string[]
  /** The lines between the fences, without the indentation of the fence. */
  lines: readonly string[]
  /** The line of the page that opens it, from 1. */
  line: number
  /** True right after `<!-- output -->`: it shows what the block before it prints. */
  isOutput: boolean
  /** The file that a reader saves it as: right after `<!-- file: PATH -->`. */
  file: string | undefined
  /** The paragraph above that mark, which a rendered page leaves out. */
  above: string
}

/** Problem of a page, with its line. */
export interface Fault {
  line: number
  problem: string
}

const FENCE = /^( *)(`{3,}|~{3,}) *([^`]*)$/
const OUTPUT_MARK = '<!-- output -->'
/** A path inside the folder of the reader. */
const FILE_MARK = /^<!-- file: ((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)+) -->$/

/** Every fenced block of a page of Markdown. */
export function blocksOf(page: string): { blocks: Block[]; faults: Fault[] } {
  const blocks: Block[] = []
  const faults: Fault[] = []
  const lines = page.split('\n')
  let after = 0
  for (let i = 0; i < lines.length; i += 1) {
    const [, indent = '', fence = '', info = ''] = FENCE.exec(lines[i] ?? '') ?? []
    if (fence === '') continue
    const end = lines.findIndex((text, at) => at > i && text.trim() === fence)
    if (end < 0) return { blocks, faults: [{ line: i + 1, problem: 'the block has no end' }] }
    const [language = '', ...words] = info.trim().split(/\s+/)
    const inside = lines.slice(i + 1, end).map((text) => (text.startsWith(indent) ? text.slice(indent.length) : text))
    const [before = '', above = ''] = lines
      .slice(after, i)
      .join('\n')
      .trim()
      .split(/\n\s*\n/)
      .reverse()
    const file = FILE_MARK.exec(before)?.[1]
    blocks.push({ language, words, lines: inside, line: i + 1, isOutput: before === OUTPUT_MARK, file, above })
    after = end + 1
    i = end
  }
  return { blocks, faults }
}
