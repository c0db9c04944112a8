import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { blocksOf } from '../test/docs/page.ts'
import { unfitFor } from './node.ts'
import { world } from './world.ts'

/** The frameworks, by the folder and page of their name. */
const PACKAGES: Record<string, string> = {
  'ai-sdk': 'ai',
  'openai-agents': '@openai/agents',
  langchain: 'langchain',
  'tool-loops': 'openai',
}

const gate = await world({ after })

/** Output of a page's examples by the page: each block of text after one of code. */
function printedOn(page: string): string[] {
  const { blocks } = blocksOf(readFileSync(new URL(`../docs/integrations/${page}.md`, import.meta.url), 'utf8'))
  return blocks.flatMap(({ language, lines }, i) =>
    blocks[i - 1]?.language === 'ts' && language === 'text' ? [`${lines.join('\n')}\n`] : [],
  )
}

for (const [name, packageName] of Object.entries(PACKAGES)) {
  const files = ['example', 'pause'].map((file) => new URL(`${name}/${file}.ts`, import.meta.url)).filter(existsSync)
  test(`the examples of docs/integrations/${name}.md print what it says`, { skip: unfitFor(packageName) }, async () => {
    const printed: string[] = []
    for (const file of files) {
      const { agent, approver } = await gate.keys()
      const env = { ...process.env, GATE_URL: gate.url, GATE_API_KEY: agent, APPROVER_API_KEY: approver }
      const ran = await promisify(execFile)(process.execPath, ['--import', 'tsx', fileURLToPath(file)], { env })
      printed.push(ran.stdout)
    }
    assert.deepEqual(printed, printedOn(name))
  })
}
