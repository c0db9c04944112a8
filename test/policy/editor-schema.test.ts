import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { schemaCompiler } from '../../src/base/schema.ts'
import { editorSchema } from '../../src/policy/editor-schema.ts'
import { testdata, testdataNames } from './sources.ts'

const validate = schemaCompiler({ allErrors: true }).compile(editorSchema())

for (const name of testdataNames('valid')) {
  test(`editor schema: accepts ${name}`, () => {
    assert.ok(validate(parse(testdata(`valid/${name}`).toString())), JSON.stringify(validate.errors))
  })
}

const REFUSED = [
  'unknown-top-key',
  'unknown-rule-key',
  'effect-unknown',
  'condition-two-forms',
  'condition-all-empty',
  'weight-zero',
  'default-allow',
]
for (const name of REFUSED) {
  test(`editor schema: refuses ${name}`, () => {
    assert.equal(validate(parse(testdata(`invalid/${name}.yaml`).toString())), false)
  })
}
