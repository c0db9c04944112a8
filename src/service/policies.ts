import { statSync } from 'node:fs'
import type { Deps } from '../actions/deps.ts'
import { shadowCounts } from '../actions/gate/shadow.ts'
import { shadowTurns } from '../actions/gate/shadow-turns.ts'
import { shadowComparer } from '../actions/policies/comparison.ts'
import { draftRoom } from '../actions/policies/drafts.ts'
import { folderOrigin } from '../actions/policies/folder-origin.ts'
import { policyHistory, storedSets } from '../actions/policies/history.ts'
import type { PolicyChange } from '../actions/policies/policies.ts'
import { type PolicyRegistry, policyRegistry } from '../actions/policies/registry.ts'
import { ruleTexts } from '../actions/policies/rule-text.ts'
import { type ShadowChange, shadowFolders } from '../actions/policies/shadow.ts'
import { storeOrigin } from '../actions/policies/store-origin.ts'
import { policyValidator } from '../actions/policies/validate.ts'
import { SHADOW, strayNames } from '../files/policies.ts'
import { policyFolders } from '../files/policy-folders.ts'
import { limitLoads, type PolicyWorker } from '../files/policy-worker.ts'
import type { Services } from '../http/services.ts'
import type { PolicySet } from '../policies/set.ts'
import type { Anchors } from './anchors.ts'
import { type Config, ConfigError } from './config.ts'
import type { Logger } from './log.ts'
import { policiesFolder } from './paths.ts'
import type { Background } from './repeat.ts'
import type { Trail } from './trail.ts'

/** Interval between two readings of the policies. A change takes effect after two equal readings. */
const POLL_INTERVAL_MS = 500
/** Threads that load sets in shadow: one that takes long to load delays no set that comes into force. */
const SHADOW_THREADS = 1

/** @throws ConfigError for a folder that does not exist, or sets from the store that would not be looked for */
export function assertPolicies(config: Config): void {
  const folder = policiesFolder(config)
  if (folder === undefined) {
    if (config.watch === 'on') return
    const advice = 'leave out --watch off, or name a folder with --policies'
    throw new ConfigError(`A set that is pushed to the store comes into force on every sidecar at once; ${advice}.`)
  }
  const entry = statSync(folder, { throwIfNoEntry: false })
  if (entry?.isDirectory()) return
  const what = entry === undefined ? `There is no policies folder ${folder}` : `${folder} is not a folder`
  throw new ConfigError(`${what}; create one with \`gate-sidecar init\`, or name another with --policies.`)
}

interface Keeping extends Background {
  policyWorker: PolicyWorker
}

type Policies = Pick<
  Services,
  'policies' | 'shadows' | 'compareShadow' | 'findSet' | 'findRule' | 'validatePolicies' | 'drafts'
>

/**
 * Serves the policies in force, earlier ones, and drafts of callers. Loads all of them once, then polls for changes, in
 * the folders of all tenants or in the store.
 */
export async function keepPolicies(deps: Deps, trail: Trail, background: Keeping): Promise<Policies> {
  const { policyWorker, tasks, log } = background
  const queue = limitLoads(policyWorker)
  const policies = registryOf(deps, queue, background)
  const { count, counts } = shadowCounts()
  const shadows = {
    get: policies.shadow,
    count,
    counts,
    turns: shadowTurns(),
    onError: (error: unknown): void => log.warn({ cause: String(error) }, 'the evaluation of a set in shadow failed'),
  }
  const readOnce = reader(policies, trail.anchors)
  await readOnce()
  tasks.every('look at policies', POLL_INTERVAL_MS, async () => {
    await readOnce()
    await policies.tend()
  })
  const findStored = storedSets({ store: deps.store, compile: queue.compile })
  const { validate, compileDraft, judge } = policyWorker
  const onDraft = draftRoom()
  return {
    policies,
    shadows,
    compareShadow: shadowComparer(deps.store),
    findSet: policyHistory(findStored, policies),
    findRule: ruleTexts(findStored),
    validatePolicies: policyValidator(onDraft, validate),
    // Drafts queue behind each other, and never delay policies that come into force.
    drafts: { onDraft, compile: compileDraft, judge },
  }
}

function registryOf(deps: Deps, queue: ReturnType<typeof limitLoads>, { config, log, tasks, policyWorker }: Keeping) {
  const { compile, compileAndTest } = queue
  const watch = config.watch === 'on'
  const onChange = (tenantId: string, change: PolicyChange): void => logChange(log, tenantId, change)
  const kept = { ...deps, watch, onError: (error: unknown): void => tasks.note(error, 'policies') }
  const inForce = { ...deps, compile, compileAndTest, onChange }
  const folder = policiesFolder(config)
  if (folder === undefined) return policyRegistry(kept, storeOrigin(inForce))
  for (const name of strayNames(folder)) log.warn({ name }, "ignored: not a tenant's folder")
  const beside = limitLoads(policyWorker, SHADOW_THREADS)
  const shadows = shadowFolders({
    ...{ ...deps, watch, compile: beside.compile, compileAndTest: beside.compileAndTest },
    folders: policyFolders(folder, beside, SHADOW),
    onShadow: (tenantId, change) => logShadow(log, tenantId, change),
  })
  const { requireReplay } = config
  const folders = policyFolders(folder, queue)
  return policyRegistry(kept, folderOrigin({ ...inForce, requireReplay, watch, folders }), shadows)
}

function logShadow(log: Logger, tenantId: string, { digest, faults }: ShadowChange): void {
  if (faults.length > 0) log.warn({ tenantId, fault: faults[0], faults: faults.length }, 'the set in shadow is refused')
  else log.info({ tenantId, digest }, digest === null ? 'no set is in shadow any more' : 'a set is in shadow')
}

function logChange(log: Logger, tenantId: string, change: PolicyChange): void {
  if ('digest' in change) {
    const { digest, mode, groupsWithoutKeys: groups } = change
    if (mode === 'observe') logObserved(log, tenantId, change)
    else log.info({ tenantId, digest }, 'policies are in force')
    if (groups.length > 0) log.warn({ tenantId, digest, groups }, 'no active key belongs to these approver groups')
    return
  }
  const { fault, faults, inForce, code } = change
  if (code !== undefined) {
    log.error({ tenantId, code, fault }, 'the policies in the store were altered: nothing is allowed')
    return
  }
  const digest = inForce?.digest ?? null
  const message = digest === null ? 'policies are refused' : 'policies are refused; those before them stay in force'
  log.warn({ tenantId, fault, faults, digest }, message)
  if (inForce?.mode === 'observe') logObserved(log, tenantId, inForce)
}

function logObserved(log: Logger, tenantId: string, { digest, mode }: Pick<PolicySet, 'digest' | 'mode'>): void {
  log.warn({ tenantId, digest, mode }, 'POLICIES ARE ONLY OBSERVED: every action runs, unless it is stopped')
}

/**
 * Loads all policies once. While the trail contradicts its anchors, a new set can neither be recorded nor take effect;
 * afterwards all are loaded again.
 */
function reader(policies: PolicyRegistry, anchors: Anchors): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    const isWriting = anchors.fault() === null
    try {
      await policies.reloadAll()
    } catch (error) {
      if (isWriting) throw error
    }
    isDone = isWriting
  }
}
