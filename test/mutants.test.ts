import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { transformSync } from 'esbuild'
import { MUTANTS, mutated } from './mutants/mutants.ts'

const path = (file: string): URL => new URL(`../${file}`, import.meta.url)

for (const mutant of MUTANTS) {
  test(`mutant ${mutant.name} can still be made, and its tests are there`, () => {
    const text = mutated(readFileSync(path(mutant.file), 'utf8'), mutant)
    assert.notEqual(mutant.from, mutant.to)
    // A mutant that no longer parses would be caught by anything.
    transformSync(text, { loader: 'ts' })
    assert.notEqual(mutant.tests.length, 0)
    for (const file of mutant.tests) assert.ok(existsSync(path(file)), file)
  })
}

test('each mutant has a name of its own', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length)
})

test('a mutant whose text is gone, or stands there twice, is refused', () => {
  const mutant = { name: 'a', promise: '', file: 'f', from: 'x', to: 'y', tests: [] }
  assert.equal(mutated('axb', mutant), 'ayb')
  for (const text of ['ab', 'axbx']) assert.throws(() => mutated(text, mutant), /exactly once/)
})
