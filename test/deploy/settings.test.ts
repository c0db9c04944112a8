import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envOf, readConfig } from '../../src/service/config.ts'
import { SETTINGS, type SettingName } from '../../src/service/settings.ts'
import { VERSION } from '../../src/version.ts'
import { deployed, deployedFiles, documentsIn, type Yaml } from './deploy.ts'
import { containersOf, manifests, podsOf } from './objects.ts'

/* What deploy/ says of the program, held to the program. */

const NAMES = (Object.keys(SETTINGS) as SettingName[]).map(envOf)
const PORT = String(SETTINGS.port.default)
const texts = deployedFiles().map((path) => [path, deployed(path)] as const)
const compose: Yaml = documentsIn(deployed('compose/compose.yaml'))[0]

test('every variable of the service in deploy/ is one of its settings', () => {
  const named = texts.flatMap(([path, text]) =>
    [...text.matchAll(/GATE_SIDECAR_[A-Z_]+\b/g)].map(([name]) => [path, name]),
  )
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter(([, name = '']) => !NAMES.includes(name)),
    [],
  )
})

/** Environments of the containers that run the program. */
const ENVIRONMENTS: [name: string, env: Record<string, string>, files: readonly string[]][] = [
  ...Object.entries<Yaml>(compose.services)
    .filter(([, { image, entrypoint }]) => image === 'gate-sidecar' && entrypoint === undefined)
    .map(([name, { environment, secrets }]): [string, Record<string, string>, string[]] => [
      `compose: ${name}`,
      environment,
      secrets.map((secret: string) => `/run/secrets/${secret}`),
    ]),
  ...podsOf(manifests()).flatMap(({ name, template }) =>
    containersOf(template)
      .filter(({ image }) => image === 'gate-sidecar')
      .map((container): [string, Record<string, string>, string[]] => [
        `kubernetes: ${name}, ${container.name}`,
        Object.fromEntries(container.env.map((of: Yaml) => [of.name, of.value])),
        keysMounted(container, template),
      ]),
  ),
]

/** Paths of the keys of secrets in a container. */
function keysMounted({ volumeMounts }: Yaml, { spec }: Yaml): string[] {
  const secrets = documentsIn(deployed('kubernetes/secrets.example.yaml'))
  return volumeMounts.flatMap(({ name, mountPath }: Yaml) => {
    const secretName = spec.volumes.find((of: Yaml) => of.name === name)?.secret?.secretName
    const secret = secrets.find(({ metadata }) => metadata.name === secretName)
    return Object.keys(secret?.stringData ?? {}).map((key) => `${mountPath}/${key}`)
  })
}

test('the environments of five containers are looked at', () => assert.equal(ENVIRONMENTS.length, 5))

for (const [name, env, files] of ENVIRONMENTS) {
  test(`${name}: the service accepts its settings, and each secret that they name is mounted`, () => {
    const config = readConfig({ flags: {}, env, file: undefined })
    const { storePassword, signingKey } = config
    assert.ok(config.store !== null && storePassword !== null)
    for (const path of [storePassword, signingKey]) if (path !== null) assert.ok(files.includes(path), path)
  })
}

test('a sidecar in a pod listens on loopback alone', () => {
  for (const [name, { GATE_SIDECAR_HOST, GATE_SIDECAR_SIGNING_KEY }] of ENVIRONMENTS)
    if (name.startsWith('kubernetes') && GATE_SIDECAR_SIGNING_KEY) assert.equal(GATE_SIDECAR_HOST, '127.0.0.1')
})

test('what asks the sidecar asks at its port', () => {
  const ports = texts.flatMap(([, text]) => [...text.matchAll(/(?:127\.0\.0\.1|sidecar-[ab]):(\d{4})(?!:)/g)])
  assert.ok(ports.length >= 4)
  for (const [asked, port] of ports) assert.equal(port, PORT, asked)
})

test('the version is the one of the package', () => {
  const { images } = documentsIn(deployed('kubernetes/kustomization.yaml'))[0]
  assert.deepEqual(
    images.map(({ newTag }: Yaml) => newTag),
    [VERSION],
  )
  const [chart] = documentsIn(deployed('helm/gate-sidecar/Chart.yaml'))
  assert.deepEqual([chart.version, chart.appVersion], [VERSION, VERSION])
  const [{ dependencies }] = documentsIn(deployed('helm/agent/Chart.yaml'))
  assert.deepEqual(
    dependencies.map(({ version }: Yaml) => version),
    [VERSION],
  )
})

test('images have a tag, and none is `latest`', () => {
  const images = texts.flatMap(([, text]) => [...text.matchAll(/^\s*(?:- )?image: ([\w./-]+)(?::(\S+))?$/gm)])
  assert.ok(images.length > 5)
  // Kustomize names the registry and tag of ours; Compose takes the one that was built.
  for (const [, name, tag] of images) if (name !== 'gate-sidecar') assert.match(tag ?? '', /^\d[\d.]*$/, name)
})
