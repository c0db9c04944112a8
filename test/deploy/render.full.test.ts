import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { temporaryFolder } from '../helpers.ts'
import { DEPLOY, documentsIn, type Yaml } from './deploy.ts'
import { containersOf, danglingNames, exposures, manifests, podsOf, schemaFaults } from './objects.ts'
import { type Tool, tools } from './tools.ts'

/* What Helm and kustomize make of deploy/, with the real programs, and without a cluster. */

const SECRETS = ['gate-sidecar', 'gate-sidecar-migrator', 'agent-key']
const charts = join(temporaryFolder(), 'helm')
let helm: Tool
let kubectl: Tool
/** Objects of the chart by itself, of the agent's chart, and of the kustomization. */
let fleet: Yaml[]
let agent: Yaml[]
let kustomized: Yaml[]

const rendered = async (...args: string[]): Promise<Yaml[]> =>
  documentsIn(await helm('template', ...args)).filter((object) => object !== null)

before(async () => {
  ;({ helm, kubectl } = await tools())
  cpSync(join(DEPLOY, 'helm'), charts, { recursive: true })
  await helm('dependency', 'build', join(charts, 'agent'))
  fleet = await rendered('gate-sidecar', join(charts, 'gate-sidecar'))
  agent = await rendered('agent', join(charts, 'agent'), '--set', 'gate-sidecar.fullnameOverride=gate-sidecar')
  kustomized = documentsIn(await kubectl('kustomize', join(DEPLOY, 'kubernetes')))
})

const objectOf = (objects: readonly Yaml[], kind: string): Yaml => objects.find((object) => object.kind === kind)
const sidecarOf = (objects: readonly Yaml[]): Yaml => {
  const { imagePullPolicy: _, ...sidecar } = containersOf(objectOf(objects, 'Deployment').spec.template)[0]
  return sidecar
}

test('Helm lints the charts without a warning', async () => {
  for (const chart of ['gate-sidecar', 'agent'])
    assert.match(await helm('lint', '--strict', join(charts, chart)), /0 chart\(s\) failed/)
})

test('every object that the charts and the kustomization make follows the API of Kubernetes', () => {
  assert.ok(fleet.length >= 2 && agent.length >= 4 && kustomized.length >= 6)
  for (const objects of [fleet, agent, kustomized]) assert.deepEqual(schemaFaults(objects), [])
})

test('every pod of them is confined, and its parts have the names of each other', () => {
  for (const objects of [fleet, agent, kustomized])
    for (const { name, template } of podsOf(objects)) {
      assert.deepEqual(exposures(template), [], name)
      assert.deepEqual(danglingNames(template, objects, SECRETS), [], name)
      assert.equal(template.metadata.labels['gate-sidecar'], 'enabled')
    }
})

test('the component adds the sidecar as the tests of the fast tier add it', () => {
  const { image, ...sidecar } = sidecarOf(kustomized)
  const { image: unnamed, ...expected } = sidecarOf(manifests())
  assert.deepEqual([sidecar, unnamed], [expected, 'gate-sidecar'])
  assert.match(image, /^registry\.example\/gate-sidecar:\d/)
  const bySecret = ({ spec }: Yaml) =>
    spec.template.spec.volumes.toSorted((a: Yaml, b: Yaml) => (a.name < b.name ? -1 : 1))
  assert.deepEqual(bySecret(objectOf(kustomized, 'Deployment')), bySecret(objectOf(manifests(), 'Deployment')))
})

test('the chart and the manifests run the same sidecar, keep it to the same network and migrate alike', () => {
  assert.deepEqual(sidecarOf(agent), sidecarOf(kustomized))
  for (const made of [fleet, agent])
    assert.deepEqual(objectOf(made, 'NetworkPolicy').spec, objectOf(kustomized, 'NetworkPolicy').spec)
  const [migrate, expected] = [fleet, kustomized].map(
    (objects) => objectOf(objects, 'Job').spec.template.spec.containers[0],
  )
  for (const member of ['args', 'env', 'image', 'resources', 'volumeMounts'])
    assert.deepEqual(migrate[member], expected[member])
})

test('a Deployment without the label gets no sidecar', async () => {
  const folder = join(temporaryFolder(), 'kubernetes')
  cpSync(join(DEPLOY, 'kubernetes'), folder, { recursive: true })
  const other = { ...objectOf(manifests(), 'Deployment'), metadata: { name: 'other', labels: { app: 'other' } } }
  other.spec.template.spec.initContainers = []
  writeFileSync(join(folder, 'policies.yaml'), JSON.stringify(other))
  const [labelled, unlabelled] = documentsIn(await kubectl('kustomize', folder)).filter(
    ({ kind }) => kind === 'Deployment',
  )
  assert.deepEqual([labelled.metadata.name, unlabelled.metadata.name], ['agent', 'other'])
  assert.equal(containersOf(labelled.spec.template).length, 2)
  assert.equal(containersOf(unlabelled.spec.template).length, 1)
})

test('settings of the values become variables, and policies volumes of their tenants', async () => {
  const more = [
    'gate-sidecar.settings.logLevel=warn',
    'gate-sidecar.settings.maxConnections=100',
    'gate-sidecar.policies.shop.a\\.yaml=x',
  ]
  const objects = await rendered('agent', join(charts, 'agent'), ...more.flatMap((value) => ['--set', value]))
  assert.deepEqual(schemaFaults(objects), [])
  const { env, volumeMounts } = sidecarOf(objects)
  assert.deepEqual(env.slice(-2), [
    { name: 'GATE_SIDECAR_LOG_LEVEL', value: 'warn' },
    { name: 'GATE_SIDECAR_MAX_CONNECTIONS', value: '100' },
  ])
  assert.ok(volumeMounts.some(({ mountPath }: Yaml) => mountPath === '/etc/gate-sidecar/policies/shop'))
})

const REFUSED = [
  'settings.logLvel=warn',
  'settings.host=0.0.0.0',
  'store.url=mysql://a/b',
  'store.url=postgres://sidecar:password@db/gate',
  'image.pullPolicy=Sometimes',
  'networkPolicy.database.cidr=db.internal',
  'polices.acme.a=x',
  'policies.Acme.a\\.yaml=x',
]
for (const value of REFUSED) {
  test(`values are refused: ${value}`, async () => {
    await assert.rejects(
      rendered('gate', join(charts, 'gate-sidecar'), '--set', value),
      /don't meet the specifications/,
    )
  })
}
