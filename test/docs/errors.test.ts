import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents } from '../../docs/build.ts'
import { DIAGNOSTICS } from '../../src/authoring/diagnostics/diagnostics.ts'
import { type Block, blocksOf } from './page.ts'

const FOLDER = 'docs/errors/'

/** Pages of codes by code; what they show is run by blocks.test.ts. */
const PAGES = new Map(
  Array.from(documents()).flatMap(([path, text]) => {
    const name = path.startsWith(FOLDER) ? path.slice(FOLDER.length, -'.md'.length) : 'README'
    return name === 'README' ? [] : [[name, text]]
  }),
)

test('every code has a page, and every page is that of a code', () => {
  assert.deepEqual([...PAGES.keys()].sort(), Object.keys(DIAGNOSTICS).sort())
})

/** Comments in blocks look like headings. */
const FENCED = /^```[\s\S]*?^```$/gm

/** Returns the part of a page under a heading. */
function section(page: string, heading: string): string {
  const [, after = ''] = page.split(`\n## ${heading}\n`)
  return after.split('\n## ')[0] ?? ''
}

function policyBlocksOf(text: string): Block[] {
  return blocksOf(text).blocks.filter(({ language }) => ['yaml', 'json', 'console'].includes(language))
}

/** Returns whether the block is marked with the code, or prints it. */
function shows({ language, words, lines }: Block, code: string): boolean {
  return language === 'console' ? lines.some((line) => line.includes(` ${code} `)) : words.join() === code
}

describe('a page of a code says what it means, shows it, and mends it', () => {
  for (const [code, { title }] of Object.entries(DIAGNOSTICS)) {
    test(code, () => {
      const page = PAGES.get(code) ?? ''
      const [head = '', ...headings] = page.replace(FENCED, '').match(/^#+ .*$/gm) ?? []
      assert.deepEqual([head, ...headings], [`# ${code}: ${title}`, '## Example', '## Fix'])
      const meaning = page.slice(head.length, page.indexOf('\n## ')).trim()
      assert.ok(
        meaning.length > 60 && meaning.length < 1000,
        `it says ${meaning.length} characters of what the fault means`,
      )
      assert.ok(policyBlocksOf(section(page, 'Example')).some((block) => shows(block, code)))
      const mended = policyBlocksOf(section(page, 'Fix'))
      assert.ok(mended.length > 0)
      for (const block of mended) {
        assert.deepEqual(block.words, [])
        if (block.language === 'console') assert.match(block.lines.join('\n'), /: 0 errors, 0 warnings\.$/)
      }
      assert.match(section(page, 'Fix'), /^\n[A-Z`]/, 'it says how to mend it before it shows it')
    })
  }
})
