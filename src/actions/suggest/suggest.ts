import { compileAndTest } from '../../authoring/cases/accept.ts'
import { lintWithTests } from '../../authoring/cases/untested.ts'
import type { Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import type { PolicySource } from '../../authoring/load/files.ts'
import { linkPolicySet } from '../../policies/link.ts'
import { decider } from '../../replay/decide.ts'
import { type Recorded, recordedIn } from '../../replay/recorded.ts'
import { reachOf, type StartReplay } from '../../replay/replay.ts'
import type { ReplayReport } from '../../replay/report.ts'
import type { Store } from '../../store/store.ts'
import { accepted, type Draft } from '../../suggest/accept.ts'
import { type Base, freeName, type Named } from '../../suggest/draft.ts'
import { type Evidence, evidenceOf } from '../../suggest/evidence.ts'
import type { NotProposed, Wanted } from '../../suggest/proposal.ts'
import { proposalsOf } from '../../suggest/proposals.ts'
import { type Tested, testFileOf } from '../../suggest/test-file.ts'
import { type Trial, type Tried, trialOf } from '../../suggest/trial.ts'
import type { ReplayRange } from '../replay/recorded.ts'
import { type ReplayControl, replayTrail } from '../replay/replay.ts'
import { heldOutcome } from './held-outcome.ts'

/** A proposal with what it would have changed. */
export interface Suggested extends Pick<Tried, 'changes'> {
  proposal: Named
  tests: Tested
}

export interface Suggestions {
  counts: Evidence['counts']
  suggested: Suggested[]
  /** Proposals beyond the limit. */
  leftOut: number
  not: NotProposed[]
  /** The policies with the proposals, and tests. */
  source: PolicySource
  digest: string
  /** Findings of lint that the policies did not have. */
  findings: readonly Diagnostic[]
  report: ReplayReport
}

interface SuggestDeps {
  store: Store
  clock: () => number
}

/** Progress of reading, which happens once for proposals, and once to try them. */
export interface SuggestControl {
  onRead?: ReplayControl['onProgress']
  onTry?: ReplayControl['onProgress']
}

/**
 * Proposes changes of policies from a trail, and tries them on it. Reads, and changes nothing.
 *
 * @param about the first line of the files that are added
 */
export async function suggest(
  deps: SuggestDeps,
  range: ReplayRange,
  base: Base,
  wanted: Wanted,
  about: string,
  control: SuggestControl = {},
): Promise<Suggestions> {
  const { store } = deps
  const request = { ...range, history: 'recorded' as const }
  const reachMs = reachOf(base.set)
  const reading = { reachMs, start: reader(deps, base) }
  const evidence = await replayTrail(store, request, reading, { onProgress: control.onRead })
  const { proposals, leftOut, not } = proposalsOf(base.set, evidence, wanted)
  const draft = await accepted(base, proposals, about)
  const trying = { reachMs, start: trier(base, draft) }
  const trial = await replayTrail(store, request, trying, { onProgress: control.onTry })
  const tested = await withTests(base, draft, trial, about)
  const dropped = draft.dropped.map(({ proposal, why }) => ({ what: proposal.what, why }))
  return {
    ...{ counts: evidence.counts, leftOut, not: [...not, ...dropped], report: trial.report, ...tested },
    digest: draft.set.digest,
    findings: await newFindings(base.source, tested.source),
  }
}

function reader(deps: SuggestDeps, { set }: Base): StartReplay<Evidence> {
  return async (options) => {
    const { pass, decide } = decider({ ...options, set })
    const { add, evidence } = evidenceOf(set)
    const nowMs = deps.clock()
    const take = async (recorded: Recorded): Promise<void> => {
      await add(recorded, await decide(recorded), await heldOutcome(deps.store, recorded, nowMs))
    }
    return {
      async add(entries) {
        for (const { part, ...entry } of entries)
          if (part === 'reported') await take(recordedIn(entry))
          else pass(recordedIn(entry))
      },
      report: async () => evidence(),
    }
  }
}

function trier({ set }: Base, draft: Draft): StartReplay<Trial> {
  return async (options) => {
    const { take, trial } = trialOf({ ...options, set }, draft)
    return {
      async add(entries) {
        for (const { part, ...entry } of entries) await take(recordedIn(entry), part)
      },
      report: async () => trial(),
    }
  }
}

/** The draft with its tests. Tests that it does not pass, or that have a fault, are left out. */
async function withTests(
  base: Base,
  { accepted: all, source, set }: Draft,
  { tried }: Trial,
  about: string,
): Promise<{ source: PolicySource; suggested: Suggested[] }> {
  const proposals = all.map(({ proposal }) => proposal)
  const { text, tested } = await testFileOf({ base: base.set, draft: set }, proposals, tried, about)
  const bytes = new TextEncoder().encode(text)
  const whole = { ...source, files: [...source.files, { name: freeName(source, '.test.yaml'), bytes }] }
  const passes = text !== undefined && (await compileAndTest(whole)).data !== undefined
  const testsOf = (id: string): Tested => {
    const { changed = 0, near = 0, madeUp = 0, untested = 0 } = tested.get(id) ?? {}
    if (passes) return { changed, near, madeUp, untested }
    return { changed: 0, near: 0, madeUp: 0, untested: changed + near + untested }
  }
  return {
    source: passes ? whole : source,
    suggested: proposals.map((proposal) => ({
      ...{ proposal, tests: testsOf(proposal.id), changes: tried.get(proposal.id)?.changes ?? [] },
    })),
  }
}

/** A rule that no test makes match is none: the first tests of a folder find all of its rules. */
async function newFindings(before: PolicySource, after: PolicySource): Promise<Diagnostic[]> {
  const known = new Set((await lintWithTests(before)).map(({ code, message }) => `${code} ${message}`))
  const isNew = ({ code, message }: Diagnostic): boolean => code !== 'GATE2101' && !known.has(`${code} ${message}`)
  return (await lintWithTests(after)).filter(isNew)
}

/** The set of a source whose own tests pass; the first fault where it has one, or a test fails. */
export async function baseOf(source: PolicySource): Promise<Base | { fault: Diagnostic | undefined }> {
  const { data, diagnostics } = await compileAndTest(source)
  if (data !== undefined) return { set: linkPolicySet(data), source }
  return { fault: diagnostics.find(({ severity }) => severity === 'error') }
}
