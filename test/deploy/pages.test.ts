import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deadLinks } from '../docs/links.ts'
import { deployed, deployedFiles, documentsIn } from './deploy.ts'

const ROOT = new URL('../../', import.meta.url)

for (const path of deployedFiles()) {
  if (path.endsWith('.md'))
    test(`${path}: its links lead somewhere`, () => {
      assert.deepEqual(deadLinks(deployed(path), `deploy/${path}`, ROOT), [])
    })
  // Templates are YAML only once Helm has filled them.
  if (path.endsWith('.yaml') && !path.includes('/templates/'))
    test(`${path} is YAML, in which no key comes twice`, () => {
      assert.ok(documentsIn(deployed(path)).length > 0)
    })
}

test('no password, key or token stands in deploy/', () => {
  const secrets = /\bsk_(?:live|test)_[a-z0-9]{8}|BEGIN [A-Z ]*PRIVATE KEY|postgres(?:ql)?:\/\/[^\s/@:]+:[^\s/@]+@/
  const found = deployedFiles().filter((path) => secrets.test(deployed(path)))
  assert.deepEqual(found, [])
})
