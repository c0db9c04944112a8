import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { Secret } from 'kubernetes-models/v1/Secret'
import { deployed, documentsIn, type Yaml } from './deploy.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** Kinds that deploy/ has, each with the validator that is made from its JSON Schema. */
const MODELS = [ConfigMap, Deployment, Job, Namespace, NetworkPolicy, PodDisruptionBudget, Secret]

/** Faults of objects against the API of Kubernetes. */
export function schemaFaults(objects: readonly Yaml[]): string[] {
  return [...objects.flatMap(faultsOfSchema), ...faultsOfTypes(objects)]
}

function faultsOfSchema(object: Yaml): string[] {
  const { apiVersion, kind, metadata } = object
  const model = MODELS.find((of) => of.apiVersion === apiVersion && of.kind === kind)
  if (model === undefined) throw new Error(`${apiVersion} ${kind} is no known kind; add it to MODELS`)
  try {
    new model(object).validate()
    return []
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return [`${kind} ${metadata.name}: ${error.message}`]
  }
}

/** The schemas allow any further field; the types that are made from them do not, so that the compiler finds a misspelt one. */
function faultsOfTypes(objects: readonly Yaml[]): string[] {
  const lines = objects.map((object, i) => {
    const type = `import('kubernetes-models/${object.apiVersion}/${object.kind}').I${object.kind}`
    return `export const o${i}: ${type} = ${JSON.stringify(object)}`
  })
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'objects-'))
  try {
    const file = join(folder, 'objects.ts')
    writeFileSync(file, lines.join('\n'))
    const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
    const { stdout, status } = spawnSync(process.execPath, [TSC, ...flags, file], { cwd: ROOT, encoding: 'utf8' })
    const told = stdout.split('\n').flatMap((line) => {
      const { place, fault } = /\((?<place>\d+),\d+\): error \S+ (?<fault>.*)/.exec(line)?.groups ?? {}
      const object = objects[Number(place) - 1]
      return object === undefined ? [] : [`${object.kind} ${object.metadata.name}: ${fault}`]
    })
    return status === 0 || told.length > 0 ? told : [stdout]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Pod templates of objects, by what they belong to. */
export function podsOf(objects: readonly Yaml[]): { name: string; template: Yaml }[] {
  return objects.flatMap(({ kind, metadata, spec }) =>
    spec?.template === undefined ? [] : [{ name: `${kind} ${metadata.name}`, template: spec.template }],
  )
}

export const containersOf = ({ spec }: Yaml): Yaml[] => [...(spec.initContainers ?? []), ...spec.containers]

/** What a pod lacks of the standard `restricted`, and of what we ask beyond it. */
export function exposures({ spec }: Yaml): string[] {
  const wanted = (of: string, has: unknown): string[] => (has ? [] : [of])
  const pod = spec.securityContext ?? {}
  return [
    ...wanted('automountServiceAccountToken: false', spec.automountServiceAccountToken === false),
    ...wanted('no host', !(spec.hostNetwork || spec.hostPID || spec.hostIPC)),
    ...containersOf({ spec }).flatMap(({ name, securityContext: own = {}, resources = {} }) =>
      [
        ...wanted('runAsNonRoot', own.runAsNonRoot ?? pod.runAsNonRoot),
        ...wanted('runAsUser', (own.runAsUser ?? pod.runAsUser) > 0),
        ...wanted('seccompProfile', (own.seccompProfile ?? pod.seccompProfile)?.type === 'RuntimeDefault'),
        ...wanted('allowPrivilegeEscalation: false', own.allowPrivilegeEscalation === false),
        ...wanted('readOnlyRootFilesystem', own.readOnlyRootFilesystem),
        ...wanted('drop: [ALL]', own.capabilities?.drop?.join() === 'ALL' && own.capabilities.add === undefined),
        ...wanted('requests and limit of memory', resources.requests?.memory && resources.limits?.memory),
      ].map((lack) => `${name}: ${lack}`),
    ),
  ]
}

/** Names by which a pod's containers, volumes and other objects do not fit together. */
export function danglingNames(template: Yaml, objects: readonly Yaml[], secrets: readonly string[]): string[] {
  const { volumes = [] } = template.spec
  const named = (kind: string): string[] =>
    objects.filter((of) => of.kind === kind).map(({ metadata }) => metadata.name)
  const mounted = containersOf(template).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }: Yaml) => name))
  const defined: string[] = volumes.map(({ name }: Yaml) => name)
  const configs = volumes.flatMap(({ configMap }: Yaml) => configMap?.name ?? [])
  const kept = volumes.flatMap(({ secret }: Yaml) => secret?.secretName ?? [])
  return [
    ...mounted.filter((name) => !defined.includes(name)),
    ...defined.filter((name) => !mounted.includes(name)),
    ...configs.filter((name: string) => !named('ConfigMap').includes(name)),
    ...kept.filter((name: string) => !secrets.includes(name)),
  ]
}

/** The object of the manifests, as kustomize puts them together. */
export function manifests(): Yaml[] {
  const { resources } = documentsIn(deployed('kubernetes/kustomization.yaml'))[0]
  return resources.flatMap((path: string) => documentsIn(deployed(`kubernetes/${path}`))).map(withSidecar)
}

/** The Deployment with what the component adds to it. Other objects stay. */
function withSidecar(object: Yaml): Yaml {
  if (object.metadata.labels?.['gate-sidecar'] !== 'enabled') return object
  const [patch] = documentsIn(deployed('kubernetes/sidecar/sidecar.yaml'))
  const { metadata: labels, spec: added } = patch.spec.template
  const { metadata, spec } = object.spec.template
  const { securityContext, initContainers, volumes, ...rest } = added
  const template = {
    metadata: { labels: { ...metadata.labels, ...labels.labels } },
    spec: {
      ...spec,
      ...rest,
      securityContext: { ...spec.securityContext, ...securityContext },
      initContainers,
      volumes: [...volumes, ...spec.volumes],
    },
  }
  return { ...object, spec: { ...object.spec, template } }
}
