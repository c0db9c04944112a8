import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { documents, filled, PART_NAMES, partsIn, writtenFiles } from '../docs/build.ts'
import { schemaCompiler } from '../src/base/schema.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { createProgram } from '../src/cli/program.ts'
import { SETTINGS } from '../src/service/settings.ts'
import { deadLinks } from './docs/links.ts'

const ROOT = new URL('../', import.meta.url)
const README = readFileSync(new URL('README.md', ROOT), 'utf8')

const DOCUMENTS = documents()

for (const [path, text] of DOCUMENTS) {
  test(`${path}: what it takes from the code is as the code has it (npm run docs)`, () => {
    assert.equal(filled(text), text)
  })
}

test('every table of the code is in a document', () => {
  assert.deepEqual([...partsIn([...DOCUMENTS.values()])].sort(), [...PART_NAMES].sort())
})

for (const [path, text] of writtenFiles()) {
  test(`${path} is as the code has it (npm run docs)`, () => {
    assert.equal(readFileSync(new URL(path, ROOT), 'utf8'), text)
  })
}

const MODELINE = /^# yaml-language-server: \$schema=(\S+)\n/
for (const tenant of readdirSync(new URL('policies/', ROOT))) {
  const folder = new URL(`policies/${tenant}/`, ROOT)
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    test(`policies/${tenant}/${name}: an editor finds its schema, which it passes`, () => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      const schema = new URL(MODELINE.exec(text)?.[1] ?? '', new URL(name, folder))
      assert.equal(schema.href, new URL(`schemas/${name.endsWith('.test.yaml') ? 'test' : 'policy'}.json`, ROOT).href)
      const validate = schemaCompiler({ allErrors: true }).compile(JSON.parse(readFileSync(schema, 'utf8')))
      assert.ok(validate(parse(text)), JSON.stringify(validate.errors))
    })
  }
}

test('a part that the code does not have is refused', () => {
  assert.throws(() => filled('<!-- from the code: nothing -->\n<!-- end -->'), /no part nothing/)
})

for (const [path, text] of DOCUMENTS) {
  test(`${path}: its links lead somewhere`, () => {
    assert.deepEqual(deadLinks(text, path, ROOT), [])
  })
}

test('links that lead nowhere are found', () => {
  const page =
    '# A title: `x`\n# A title: `x`\n[a](#a-title-x) [b](#a-title-x-1) [c](LICENSE) [d](https://x.y) [e](docs/format.md#chains)'
  assert.deepEqual(deadLinks(page, 'README.md', ROOT), [])
  const dead = ['#a-title-x-2', 'NONE', '../README.md', 'docs/format.md#chain', 'docs#chains', 'LICENSE#a']
  assert.deepEqual(deadLinks(dead.map((target) => `[x](${target})`).join('\n'), 'README.md', ROOT), dead)
})

test('every setting is an option of serve, as the table says', async () => {
  const serve = (await createProgram(COMMANDS)).commands.find((command) => command.name() === 'serve')
  const taken = serve?.options.map((option) => option.attributeName()) ?? []
  assert.deepEqual(
    Object.keys(SETTINGS).filter((name) => !taken.includes(name)),
    [],
  )
})

test('README: exactly the two commands that set everything up', () => {
  const blocks = [...README.matchAll(/```\w*\n([\s\S]*?)```/g)].map((match) => String(match[1]))
  const lines = blocks.join('').split('\n')
  const wanted = ['npm ci && npm start', 'npm ci && npm test']
  const found = lines.map((line) => line.replace(/\s*#.*$/, '').trim()).filter((line) => line.startsWith('npm ci'))
  assert.deepEqual(found, wanted)
})

test('decisions: each at most a page, numbered without gaps', () => {
  const folder = new URL('docs/decisions/', ROOT)
  const names = readdirSync(folder).sort()
  assert.ok(names.length >= 7)
  for (const [i, name] of names.entries()) {
    assert.match(name, new RegExp(`^${String(i + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`))
    const text = readFileSync(new URL(name, folder), 'utf8')
    assert.match(text, /^# \d{4} .+\n/)
    assert.ok(text.split('\n').length <= 60, `${name} is longer than a page`)
  }
})
