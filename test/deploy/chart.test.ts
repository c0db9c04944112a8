import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import type { SettingName } from '../../src/service/settings.ts'
import { SETTINGS } from '../../src/service/settings.ts'
import { deployed, deployedFiles, documentsIn, type Yaml } from './deploy.ts'

/* The charts as texts; render.full.test.ts has what Helm makes of them. */

const CHARTS = ['gate-sidecar', 'agent'] as const
const valuesOf = (chart: string): Yaml => documentsIn(deployed(`helm/${chart}/values.yaml`))[0]
const templatesOf = (chart: string): string =>
  deployedFiles()
    .filter((path) => path.startsWith(`helm/${chart}/templates/`))
    .map(deployed)
    .join('\n')

const SCHEMA = JSON.parse(deployed('helm/gate-sidecar/values.schema.json'))

/** Values over defaults, as Helm lays them. */
function over(defaults: Yaml, values: Yaml): Yaml {
  const isMap = (of: unknown): boolean => typeof of === 'object' && of !== null && !Array.isArray(of)
  if (!isMap(defaults) || !isMap(values)) return values ?? defaults
  const keys = new Set([...Object.keys(defaults), ...Object.keys(values)])
  return Object.fromEntries([...keys].map((key) => [key, over(defaults[key], values[key])]))
}

test('the values of both charts pass the schema', () => {
  const defaults = valuesOf('gate-sidecar')
  const validate = new Ajv({ allErrors: true }).compile(SCHEMA)
  for (const values of [defaults, over(defaults, valuesOf('agent')['gate-sidecar'])])
    assert.ok(validate(values), JSON.stringify(validate.errors))
})

for (const chart of CHARTS) {
  test(`${chart}: each value that a template names is in values.yaml, and each of those is named`, () => {
    const values = valuesOf(chart)
    const named = [...templatesOf(chart).matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path)
    for (const path of named) {
      const found = path.split('.').reduce<Yaml>((of, member) => of?.[member], values)
      assert.notEqual(found, undefined, path)
    }
    const unnamed = Object.keys(values).filter(
      (key) => key !== 'gate-sidecar' && !named.some((path) => path.split('.')[0] === key),
    )
    assert.deepEqual(unnamed, [])
  })

  test(`${chart}: each template that is included is defined, and every action is closed`, () => {
    const text = templatesOf(chart)
    const all = CHARTS.map(templatesOf).join('\n')
    const defined = new Set([...all.matchAll(/define "([^"]+)"/g)].map(([, name]) => name))
    const included = [...text.matchAll(/include "([^"]+)"/g)].map(([, name]) => name)
    assert.deepEqual(
      included.filter((name) => !defined.has(name)),
      [],
    )
    const count = (pattern: RegExp): number =>
      [...text.replace(/\{\{- \/\*[\s\S]*?\*\/\}\}/g, '').matchAll(pattern)].length
    assert.equal(count(/\{\{-? (?:if|range|define|with) /g), count(/\{\{-? end \}\}/g))
  })
}

/** Settings that the chart gives itself, or for which a pod would need more than a value. */
const NOT_BY_VALUES: readonly SettingName[] = [
  ...(['data', 'store', 'storePassword', 'policies', 'host', 'port', 'socket', 'allowedHosts'] as const),
  ...(['signingKey', 'sealKey', 'anchorFile', 'anchorUrl', 'anchorSecret', 'stopDelay'] as const),
  // All pods would have the same one, in place of their own.
  'name',
]

test('each setting is one of the values, or one that the chart gives itself', () => {
  const byValues: string[] = SCHEMA.properties.settings.propertyNames.enum
  assert.deepEqual([...byValues, ...NOT_BY_VALUES].toSorted(), Object.keys(SETTINGS).toSorted())
})
