import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../cli/program.ts'
import { DEPLOY, deployed, documentsIn, type Yaml } from './deploy.ts'
import { containersOf, danglingNames, exposures, manifests, podsOf, schemaFaults } from './objects.ts'

const OBJECTS = manifests()
const SECRETS = documentsIn(deployed('kubernetes/secrets.example.yaml'))
const SECRET_NAMES = SECRETS.map(({ metadata }) => metadata.name)
const [SIDECAR] = documentsIn(deployed('kubernetes/sidecar/sidecar.yaml'))[0].spec.template.spec.initContainers
const LABEL = { 'gate-sidecar': 'enabled' }

const objectOf = (kind: string): Yaml => OBJECTS.find((object) => object.kind === kind)

test('every object follows the API of Kubernetes', () => {
  assert.deepEqual(schemaFaults([...OBJECTS, ...SECRETS]), [])
})

test('a misspelt field, a wrong type, a word that is none and a missing field are found', () => {
  const [pod] = podsOf(OBJECTS)
  const changed = (change: (spec: Yaml) => void): string[] => {
    const object = structuredClone(OBJECTS.find(({ kind, metadata }) => `${kind} ${metadata.name}` === pod?.name))
    change(object.spec.template.spec)
    return schemaFaults([object])
  }
  const [misspelt] = changed((spec) => Object.assign(spec.containers[0], { volumeMount: [] }))
  assert.match(misspelt ?? '', /volumeMount/)
  const [wrong] = changed((spec) => Object.assign(spec, { enableServiceLinks: 'false' }))
  assert.match(wrong ?? '', /enableServiceLinks must be boolean/)
  const [word] = changed((spec) => Object.assign(spec.containers[0], { imagePullPolicy: 'Sometimes' }))
  assert.match(word ?? '', /imagePullPolicy must be equal to one of/)
  const [missing] = changed((spec) => delete spec.containers[0].name)
  assert.match(missing ?? '', /name/)
})

for (const { name, template } of podsOf(OBJECTS)) {
  test(`${name}: its pods pass the standard that the namespace enforces, and more`, () => {
    assert.deepEqual(exposures(template), [])
    assert.equal(objectOf('Namespace').metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted')
  })

  test(`${name}: volumes, mounts, policies and secrets have the names of each other`, () => {
    assert.deepEqual(danglingNames(template, OBJECTS, SECRET_NAMES), [])
  })

  test(`${name}: a secret is open to owner and group alone, and the pod is in that group`, () => {
    for (const { secret } of template.spec.volumes) if (secret) assert.equal(secret.defaultMode, 0o440)
    assert.equal(template.spec.securityContext.fsGroup, 1000)
  })

  test(`${name}: its pods are in the network policy, and get no variables of services`, () => {
    assert.equal(template.metadata.labels['gate-sidecar'], 'enabled')
    assert.equal(template.spec.enableServiceLinks, false)
  })
}

test('the sidecar starts before the agent, decides before it starts, and ends after it', () => {
  assert.equal(SIDECAR.restartPolicy, 'Always')
  assert.deepEqual(SIDECAR.startupProbe.exec.command, ['gate-sidecar', 'health'])
  assert.deepEqual(SIDECAR.readinessProbe.exec.command, ['gate-sidecar', 'health'])
})

test('a sidecar that is not ready is never restarted for it, and no probe needs a port', () => {
  assert.deepEqual(SIDECAR.livenessProbe.exec.command, ['gate-sidecar', 'health', '--live'])
  assert.equal(SIDECAR.ports, undefined)
})

test('the agent has its own key and no secret of the sidecar; the sidecar has no key of the agent', () => {
  const { template } = objectOf('Deployment').spec
  const volume = (name: string): Yaml => template.spec.volumes.find((of: Yaml) => of.name === name)
  const secretsOf = ({ volumeMounts }: Yaml): string[] =>
    volumeMounts.flatMap(({ name }: Yaml) => volume(name).secret?.secretName ?? [])
  const [sidecar, agent] = containersOf(template)
  assert.deepEqual(secretsOf(sidecar), ['gate-sidecar'])
  assert.deepEqual(secretsOf(agent), ['agent-key'])
})

test('nobody reaches these pods, which reach DNS and PostgreSQL alone', () => {
  const { podSelector, policyTypes, ingress, egress } = objectOf('NetworkPolicy').spec
  assert.deepEqual([podSelector.matchLabels, policyTypes, ingress], [LABEL, ['Ingress', 'Egress'], []])
  const ports = egress.map((rule: Yaml) => rule.ports.map(({ protocol, port }: Yaml) => `${protocol} ${port}`))
  assert.deepEqual(ports, [['UDP 53', 'TCP 53'], ['TCP 5432']])
  assert.ok(egress.every(({ to }: Yaml) => to.length > 0))
})

test('a drain leaves an agent: its budget selects the pods of its Deployment', () => {
  const { spec } = objectOf('PodDisruptionBudget')
  const { replicas, selector } = objectOf('Deployment').spec
  assert.deepEqual(spec.selector, selector)
  assert.ok(replicas > spec.maxUnavailable)
})

test('the policies are valid, and the same wherever deploy/ has them', async () => {
  const [values] = documentsIn(deployed('helm/agent/values.yaml'))
  const texts = [
    deployed('compose/policies/acme/main.yaml').replace(/^# yaml-language-server.*\n/, ''),
    objectOf('ConfigMap').data['main.yaml'],
    values['gate-sidecar'].policies.acme['main.yaml'],
  ]
  assert.equal(new Set(texts).size, 1)
  const { code, stdout } = await run(['validate', '--policies', join(DEPLOY, 'compose/policies')])
  assert.equal(code, 0, stdout)
})
