import type { Decision } from '../src/policies/set.ts'
import type { Call, Corpus } from './corpus.ts'
import type { Decisions } from './score.ts'

/** Facts about a call for a reference policy: its tool, the origins of its arguments, and what was read before. */
interface Known {
  /** True when the tool changes something, or may, and its effect is not known. */
  writes: boolean
  /** True for a write, and for a call that leaves the sandbox, as reading a web page does. */
  acts: boolean
  /** True when the tool is known to fetch from the network. */
  fetches: boolean
  tainted: boolean
  /** True when an argument holds text of a third party; when one of the `SENSITIVE` arguments does. */
  thirdParty: boolean
  sensitiveThirdParty: boolean
  /** True when the model wrote one of the `SENSITIVE` arguments. */
  sensitiveModel: boolean
  /** True when the user's task needs the tool. Nobody knows this in practice. */
  neededForTask: boolean
}

export interface ReferencePolicy {
  id: string
  /** Short, for a chart. */
  title: string
  meaning: string
  decide: (known: Known) => Decision
}

const hold = (isHeld: boolean): Decision => (isHeld ? 'require_approval' : 'allow')
const refuse = (isDenied: boolean): Decision => (isDenied ? 'deny' : 'allow')

/** Rules without knowledge of the tools, to measure a policy against. */
export const REFERENCE_POLICIES: readonly ReferencePolicy[] = [
  { id: 'hold-write', title: 'hold every write', meaning: 'a write is held', decide: ({ writes }) => hold(writes) },
  {
    id: 'deny-write-when-tainted',
    title: 'deny writes once tainted',
    meaning: 'a write is denied once the session has read untrusted text',
    decide: ({ writes, tainted }) => refuse(writes && tainted),
  },
  {
    id: 'hold-third-party-args',
    title: 'hold third-party arguments',
    meaning: 'a write or a web fetch is held when an argument holds what a third party wrote',
    decide: ({ acts, thirdParty }) => hold(acts && thirdParty),
  },
  {
    id: 'hold-sensitive-third-party',
    title: 'hold sensitive third-party',
    meaning: 'the same, only for arguments that say where something goes, whom it concerns or what is given away',
    decide: ({ acts, sensitiveThirdParty }) => hold(acts && sensitiveThirdParty),
  },
  {
    id: 'mixed',
    title: 'mixed',
    meaning:
      'a write with such an argument is denied; one after untrusted text, with any third-party argument or such an argument by the model, is held, and so is a fetch',
    decide: mixed,
  },
]

/** The best that a list of tools for each task could do; it asks what nobody knows before the task is done. */
export const ORACLE: ReferencePolicy = {
  id: 'oracle-task-tools',
  title: 'oracle',
  meaning:
    "a write is denied unless its tool is part of the solution of the user's task, which nobody knows beforehand",
  decide: ({ writes, neededForTask }) => refuse(writes && !neededForTask),
}

function mixed(known: Known): Decision {
  const { writes, fetches, tainted, thirdParty, sensitiveThirdParty, sensitiveModel } = known
  if (writes && sensitiveThirdParty) return 'deny'
  return hold((writes && tainted && (thirdParty || sensitiveModel)) || (fetches && sensitiveThirdParty))
}

/** The reference policies that the corpus has the data for. */
export function referencePoliciesFor({ tasks }: Corpus): readonly ReferencePolicy[] {
  return tasks === undefined ? REFERENCE_POLICIES : [...REFERENCE_POLICIES, ORACLE]
}

export function referenceDecisions(policy: ReferencePolicy, { sessions, tasks = [] }: Corpus): Decisions {
  const keyOf = (source: string, suite: string, task: string) => JSON.stringify([source, suite, task])
  const tools = new Map(
    tasks
      .filter(({ kind }) => kind === 'user')
      .map(({ source, suite, id, ground_truth }) => [
        keyOf(source, suite, id),
        new Set(ground_truth?.map(({ action }) => action)),
      ]),
  )
  return new Map(
    sessions.flatMap((session) => {
      const needed = tools.get(keyOf(session.source, session.suite, session.user_task)) ?? new Set()
      return session.calls.map((call) => [call.id, policy.decide(knownOf(call, needed))] as const)
    }),
  )
}

/** Names of arguments that say where something goes, whom it concerns or what is given away. */
const SENSITIVE: ReadonlySet<string> = new Set([
  ...['recipient', 'recipients', 'to', 'cc', 'bcc', 'participants', 'user_email', 'email', 'user', 'username'],
  ...['channel', 'address', 'new_owner', 'collaborator', 'guest_ids', 'url', 'repo', 'path', 'file_id', 'id'],
  ...['password', 'ssh_key', 'iban', 'product_id', 'product_ids', 'hotel', 'restaurant'],
])
/** Start of the names of tools that only read, after the `Manager` of a toolkit's name. */
const READS = /^(?:Get|Search|View|Read|List|Query)/

function knownOf({ action, effect = 'read', context }: Call, needed: ReadonlySet<string>): Known {
  const mayWrite = effect === 'unknown' && !READS.test(action.split('Manager').at(-1) ?? action)
  const origins = Object.entries(context?.prov ?? {})
  const sensitive = origins.filter(([name]) => SENSITIVE.has(name))
  const has = (of: typeof origins, origin: string) => of.some(([, from]) => from.includes(origin))
  return {
    writes: effect === 'write' || mayWrite,
    acts: effect === 'write' || effect === 'network' || mayWrite,
    fetches: effect === 'network',
    tainted: context?.tainted ?? false,
    thirdParty: has(origins, 'third_party'),
    sensitiveThirdParty: has(sensitive, 'third_party'),
    sensitiveModel: has(sensitive, 'model'),
    neededForTask: needed.has(action),
  }
}
