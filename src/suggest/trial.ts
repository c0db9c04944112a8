import { canonicalJson } from '../base/canonical.ts'
import { type Glob, matchesAny, parseGlob } from '../base/glob.ts'
import { valueAt } from '../base/grouped.ts'
import type { Decision, PolicySet } from '../policies/set.ts'
import { decider, type ReplayOptions } from '../replay/decide.ts'
import type { Outcome, Part, Recorded } from '../replay/recorded.ts'
import { replayOf } from '../replay/replay.ts'
import type { ReplayReport } from '../replay/report.ts'
import type { Accepted, Draft } from './accept.ts'
import { type Example, partOf } from './examples.ts'

/** Requests of each kind that are kept for tests of one proposal. */
const MAX_EXAMPLES = 3

/** Decisions that a proposal alone would have changed. */
export interface Tried {
  /** Requests by decision of the policies, and with the proposal. */
  changes: { from: Decision; to: Decision; count: number }[]
  changed: Example[]
  /** Requests about the same actions that it does not change. */
  near: Example[]
}

export interface Trial {
  report: ReplayReport
  /** By the name of the proposal. */
  tried: ReadonlyMap<string, Tried>
}

/** Decides requests of a trail again: with the draft, and with each of its proposals alone. */
export function trialOf(options: ReplayOptions, draft: Draft) {
  const whole = replayOf({ ...options, set: draft.set })
  const base = decider(options)
  const ones = draft.accepted.map((one) => triedOne(one, options))
  return {
    async take(recorded: Recorded, part: Part): Promise<void> {
      await whole.take(recorded, part)
      const about = part === 'reported' ? ones.filter((one) => matchesAny(one.globs, recorded.action)) : []
      for (const one of ones) if (!about.includes(one)) one.by.pass(recorded)
      if (about.length === 0) return base.pass(recorded)
      const now = await base.decide(recorded)
      for (const one of about) {
        const then = await one.by.decide(recorded)
        if (now.result === 'decided' && then.result === 'decided')
          one.note(recorded, now.outcome, then.outcome.decision)
      }
    },
    trial: (): Trial => ({
      report: whole.report(),
      tried: new Map(ones.map((one) => [one.id, one.tried()])),
    }),
  }
}

function triedOne({ proposal, set }: Accepted, options: ReplayOptions) {
  const globs: Glob[] = proposal.actions.flatMap((text) => parseGlob(text) ?? [])
  const changes = new Map<string, Tried['changes'][number]>()
  const sets = [options.set, set]
  const [changed, near] = [examples(options.environment, sets), examples(options.environment, sets)]
  return {
    ...{ id: proposal.id, globs, by: decider({ ...options, set }) },
    note(recorded: Recorded, { decision: from, decidedBy }: Outcome, to: Decision): void {
      if (from !== to) valueAt(changes, `${from} ${to}`, () => ({ from, to, count: 0 })).count += 1
      const kept = from === to ? near : changed
      // Tests know no approvals.
      if (decidedBy !== 'approval') kept.add(recorded, from, to)
    },
    tried: (): Tried => ({ changes: [...changes.values()], changed: changed.all(), near: near.all() }),
  }
}

/** The first requests that differ in what the policies read. */
function examples(environment: ReplayOptions['environment'], sets: readonly PolicySet[]) {
  const found = new Map<string, Example>()
  return {
    add(recorded: Recorded, from: Decision, to: Decision): void {
      if (found.size >= MAX_EXAMPLES) return
      const { id, action, agent: identity, evaluatedMs: nowMs } = recorded
      const part = partOf(recorded, sets)
      const key = canonicalJson([action, part?.context ?? null, part?.plan ?? null])
      if (part === undefined || found.has(key)) return
      found.set(key, { id, action, ...part, agent: { identity, environment }, nowMs, from, to })
    },
    all: () => [...found.values()],
  }
}
