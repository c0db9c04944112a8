import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { eventEntry } from '../../actions/deps.ts'
import { admissionOf } from '../../actions/policies/admission.ts'
import { rulesInShadow } from '../../actions/policies/shadow.ts'
import { chainOf } from '../../audit/chain.ts'
import { withEnforcedRules } from '../../authoring/format/enforce.ts'
import type { TenantFolder } from '../../authoring/load/files.ts'
import { exchangedFolder, exchangeFolders, isExchanging } from '../../files/exchange.ts'
import { SHADOW } from '../../files/policies.ts'
import { readTenantFolder } from '../../files/read-folders.ts'
import { rewriteFile } from '../../files/rewrite.ts'
import type { PolicySet } from '../../policies/set.ts'
import { CannotRun, hostActor } from '../context.ts'
import { withStore } from '../data-file.ts'
import { type Line, print } from '../output.ts'
import { policiesRoot } from '../tenant-folders.ts'
import { checkedFolder } from './push.ts'
import { printReport } from './report.ts'
import { type Compared, candidateOf, comparedIn, comparisonLines, type ShadowOptions } from './shadow.ts'

/** A change of files that puts a set in force. */
interface Promotion {
  set: PolicySet
  /** Folders that it changes, which must still be as they were read. */
  changes: readonly string[]
  apply(): void
}

/**
 * Puts the set in shadow in force: records what it had said, then changes the files, which the service takes in. The
 * set before becomes the one in shadow.
 */
export async function promote(options: ShadowOptions): Promise<void> {
  const { tenant } = options
  const root = policiesRoot(options)
  const inShadow = `${tenant}${SHADOW}`
  if (isExchanging(root, tenant)) return finish(options, root)
  const before = fingerprints(root, tenant)
  const candidate = await candidateOf(options)
  if (candidate === undefined) return
  const { origin } = candidate
  const promotion: Promotion | undefined =
    origin === 'rules'
      ? await enforcing(options, join(root, tenant), candidate.folder)
      : { set: candidate.set, changes: [root], apply: () => exchangeFolders(root, tenant, inShadow) }
  if (promotion === undefined) return
  for (const folder of promotion.changes) assertWritable(folder)
  const promoted = await withStore(options, async (deps, { requireReplay }) => {
    const compared = await comparedIn(deps, options, candidate)
    const record = deps.store.state().policies.get(tenant)
    const admission = await admissionOf({ ...deps, requireReplay }, promotion.set, record)
    if ('fault' in admission) throw new CannotRun(admission.fault)
    const previous = record?.digest ?? null
    const told = { ...compared, digest: promotion.set.digest, inShadow: compared.digest, previous }
    if (fingerprints(root, tenant) !== before)
      throw new CannotRun(`The folders of ${tenant} were changed meanwhile; look at them, and run the command again.`)
    const entry = eventEntry(deps, chainOf(tenant, 'live'), 'policy.promoted', told, hostActor())
    await deps.store.commit({ guards: [], writes: [], entries: [entry] })
    return { ...told, entryId: entry.id }
  })
  promotion.apply()
  print(options, promoted, () => linesOf(promoted, existsSync(join(root, inShadow))))
}

/** Finishes a promotion that a crash cut short: its entry is there already. @throws CannotRun where a folder is in the way */
function finish(options: ShadowOptions, root: string): void {
  const { tenant } = options
  const [one, other] = [join(root, tenant), join(root, `${tenant}${SHADOW}`)]
  if (existsSync(one) && existsSync(other))
    throw new CannotRun(
      `An earlier promotion of ${tenant} was cut short, and both of its folders are there: the set before is in ${exchangedFolder(root, tenant)}. Move one of the three away.`,
    )
  exchangeFolders(root, tenant, `${tenant}${SHADOW}`)
  print(options, { tenantId: tenant, finished: true }, () => [
    `An earlier promotion of ${tenant} was cut short; its folders are exchanged now.`,
  ])
}

/** Contents of both folders of a tenant, as one text. */
function fingerprints(root: string, tenant: string): string {
  const of = (ending: '' | typeof SHADOW): string => readTenantFolder(root, tenant, ending).fingerprint
  return JSON.stringify([of(''), of(SHADOW)])
}

/** The rules of the set in force without `mode: shadow`. Undefined when a test fails then, which is printed. */
async function enforcing(
  options: ShadowOptions,
  path: string,
  { tenant, source }: TenantFolder,
): Promise<Promotion | undefined> {
  if ('problem' in source) return undefined
  const texts = withEnforcedRules(source)
  const files = source.files.map((file) => {
    const text = texts.get(file.name)
    return text === undefined ? file : { ...file, bytes: Buffer.from(text) }
  })
  const folder = { tenant, fingerprint: '', source: { ...source, files } }
  const { set, diagnostics } = await checkedFolder(folder)
  if (set === undefined || rulesInShadow(set).length > 0) {
    printReport({ ...options, format: 'text' }, resolve('.'), [folder], diagnostics)
    return undefined
  }
  const changed = source.files.filter(({ name }) => texts.has(name))
  // A link leads to the file that is written.
  const places = changed.map(({ name }) => realpathSync(join(path, name)))
  const apply = (): void => {
    for (const [i, { name, bytes }] of changed.entries()) {
      if (rewriteFile(places[i] ?? '', bytes, texts.get(name) ?? '')) continue
      throw new CannotRun(`${name} was changed meanwhile; run the command again.`)
    }
  }
  return { set, changes: places.map(dirname), apply }
}

/** @throws CannotRun where files cannot be changed, as in a mounted ConfigMap */
function assertWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new CannotRun(
      `${folder} cannot be written; change the policies in the place that it is made from, and see what the set in shadow says with \`gate-sidecar policies shadow\`.`,
    )
  }
}

type Promoted = Compared & { inShadow: string; previous: string | null; entryId: string }

function linesOf(promoted: Promoted, isKept: boolean): Line[] {
  const { tenantId, digest, inShadow, previous, origin, entryId } = promoted
  return [
    ...comparisonLines({ ...promoted, digest: inShadow }),
    '',
    `${tenantId} gets the set ${digest}, as soon as the service looks at its folder; entry ${entryId}.`,
    ...(origin === 'folder' && isKept
      ? [`The set before, ${previous}, is in shadow now: to take the promotion back, run the command again.`]
      : []),
  ]
}
