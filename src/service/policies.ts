import type { Deps, PoliciesInForce } from '../actions/deps.ts'
import { draftRoom } from '../actions/policies/drafts.ts'
import { type HistoryDeps, policyHistory, storedSets } from '../actions/policies/history.ts'
import { type PolicyRegistry, policyRegistry } from '../actions/policies/registry.ts'
import { ruleTexts } from '../actions/policies/rule-text.ts'
import { policyValidator } from '../actions/policies/validate.ts'
import { strayNames } from '../files/policies.ts'
import { policyFolders } from '../files/policy-folders.ts'
import { limitLoads, type PolicyWorker } from '../files/policy-worker.ts'
import type { Services } from '../http/services.ts'
import type { Anchors } from './anchors.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'
import type { Trail } from './trail.ts'

/** Between two looks at the policies. A change is in force after two that are alike. */
const POLL_MS = 500

interface KeepPoliciesOptions {
  /** Of all tenants. */
  folder: string
  policyWorker: PolicyWorker
  config: Config
  log: Logger
  tasks: Tasks
}

/** The policies in force, those that were, and those that callers send. They have been read once, and are looked at again and again. */
export async function keepPolicies(
  deps: Deps,
  trail: Trail,
  { folder, policyWorker, config, log, tasks }: KeepPoliciesOptions,
): Promise<Pick<Services, 'policies' | 'findSet' | 'findRule' | 'validatePolicies' | 'drafts'>> {
  const queue = limitLoads(policyWorker)
  const policies = policiesIn(folder, { deps, policyWorker: queue, watch: config.watch === 'on', log })
  const readOnce = reader(policies, trail.anchors)
  await readOnce()
  tasks.every('look at policies', POLL_MS, async () => {
    await readOnce()
    await policies.tend()
  })
  return {
    policies,
    ...earlierPolicies({ store: deps.store, compile: queue.compile }, policies),
    ...forDrafts(policyWorker),
  }
}

/** The policies under `folder`, none of which has been read. What comes of each change is logged. */
function policiesIn(
  folder: string,
  {
    deps,
    policyWorker,
    watch,
    log,
  }: { deps: Deps; policyWorker: ReturnType<typeof limitLoads>; watch: boolean; log: Logger },
): PolicyRegistry {
  for (const name of strayNames(folder)) log.warn({ name }, "ignored: not a tenant's folder")
  return policyRegistry({
    ...deps,
    compile: policyWorker.compile,
    compileAndTest: policyWorker.compileAndTest,
    folders: policyFolders(folder, policyWorker),
    watch,
    onChange: (tenantId, change) =>
      'digest' in change
        ? log.info({ tenantId, digest: change.digest }, 'policies are in force')
        : log.warn(
            { tenantId, fault: change.fault, faults: change.faults, digest: change.inForce },
            change.inForce === null ? 'policies are not in force' : 'policies are not in force; those before them stay',
          ),
    onError: (error) => log.error({ task: 'policies', cause: String(error) }, 'background task failed'),
  })
}

/**
 * Reads all policies once. A set that was never in force cannot be put on record, nor come into force, while the trail contradicts
 * its anchors; all are read again after that.
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

/** Finds policies that were in force, and their texts. */
function earlierPolicies(deps: HistoryDeps, inForce: PoliciesInForce): Pick<Services, 'findSet' | 'findRule'> {
  const findStored = storedSets(deps)
  return { findSet: policyHistory(findStored, inForce), findRule: ruleTexts(findStored) }
}

/** What callers ask of policies that they send. They wait for each other, and no policies that are to come into force wait for them. */
function forDrafts({ validate, compile, judge }: PolicyWorker): Pick<Services, 'validatePolicies' | 'drafts'> {
  const onDraft = draftRoom()
  return { validatePolicies: policyValidator(onDraft, validate), drafts: { onDraft, compile, judge } }
}
