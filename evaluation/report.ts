import { readFileSync } from 'node:fs'
import { counted } from '../src/base/counted.ts'
import { chart, type Panel, type Point } from './chart.ts'
import type { Corpus } from './corpus.ts'
import { frontierTable, settingsOf } from './frontier.ts'
import { missesTable } from './misses.ts'
import { BENCHMARKS, CAMEL_TRIGGERED } from './published.ts'
import { type ReferencePolicy, referenceDecisions, referencePoliciesFor } from './reference.ts'
import { type Deciders, rulesTable } from './rules.ts'
import { type Decisions, ratesOf, type Score, scoreOf } from './score.ts'
import {
  artefactTable,
  attackTable,
  type Compared,
  comparisons,
  headlineTable,
  referenceTable,
  sliceTable,
  titleOf,
  userTable,
} from './tables.ts'

export interface Report {
  /** Markdown. */
  page: string
  /** Undefined where there is no benchmark to draw. */
  svg: string | undefined
}

/** Facts about a run, for the sentences about it. */
export interface Run {
  concurrency: number
  /** Milliseconds of each answer. */
  latencies: readonly number[]
  /** File name by which the page links to its chart. */
  chartName: string
  deciders: Deciders
}

const NOTHING_COMPARES =
  'The recordings hold no whole set of a benchmark, so that no rate compares with a published one.'
const CHART_TEXT = 'Attack success against interruption: gate-sidecar, reference policies and no defence, by benchmark'

/** The page and its chart: the same for the same corpus and decisions, but for the sentences about the run. */
export function reportOf(
  corpus: Corpus,
  decisions: Decisions,
  { concurrency, latencies, chartName, deciders }: Run,
): Report {
  const { sessions } = corpus
  const references = referencePoliciesFor(corpus)
  const compared = comparedOf(corpus, decisions, references)
  const parts: Readonly<Record<string, () => string>> = {
    calls: () => sessions.reduce((sum, { calls }) => sum + calls.length, 0).toLocaleString('en'),
    concurrency: () => String(concurrency),
    headline: () => (compared.length === 0 ? NOTHING_COMPARES : headlineTable(compared)),
    chart: () => (compared.length === 0 ? '' : `![${CHART_TEXT}](${chartName})`),
    'reference-policies': () => referenceTable(references),
    comparisons: () => comparisons(compared),
    artefacts: artefactTable,
    'camel-normal': () => CAMEL_TRIGGERED.normal.toFixed(1),
    'camel-strict': () => CAMEL_TRIGGERED.strict.toFixed(1),
    attacks: () => attackTable(sessions, decisions),
    users: () => userTable(sessions, decisions),
    frontier: () => (compared.length === 0 ? NOTHING_COMPARES : frontierTable(compared)),
    rules: () => rulesTable(sessions, decisions, deciders),
    'wrong-writes': () => wrongWrites(scoreOf(sessions, decisions)),
    slices: () => sliceTable(sessions, decisions),
    misses: () => missesTable(sessions, decisions),
    latency: () => latencyLine(latencies),
  }
  return { page: filledIn(template(), parts), svg: compared.length === 0 ? undefined : chart(compared.map(panelOf)) }
}

function template(): string {
  return readFileSync(new URL('page.md', import.meta.url), 'utf8')
}

/** @throws Error for a place that has no part */
function filledIn(text: string, parts: Readonly<Record<string, () => string>>): string {
  const filled = text.replace(/\{\{([a-z-]+)\}\}/g, (_, name: string) => {
    const part = parts[name]
    if (part === undefined) throw new Error(`evaluation/page.md names a part ${name}, which there is not`)
    return part()
  })
  // Removes the blank lines that a part without content leaves.
  return filled.replace(/\n{3,}/g, '\n\n')
}

/** The benchmarks of which the corpus has whole sets; rates of samples do not compare with published ones. */
function comparedOf(corpus: Corpus, decisions: Decisions, references: readonly ReferencePolicy[]): Compared[] {
  const settings = settingsOf(corpus, decisions, references)
  const inReference = references.map((policy) => ({ policy, decisions: referenceDecisions(policy, corpus) }))
  return BENCHMARKS.flatMap((benchmark) => {
    const sessions = corpus.sessions.filter(({ source, set }) => source === benchmark.source && set === 'full')
    if (sessions.length === 0) return []
    return {
      benchmark,
      score: scoreOf(sessions, decisions),
      references: inReference.map(({ policy, decisions: of }) => ({ policy, score: scoreOf(sessions, of) })),
      settings: settings.map(({ decisions: of, ...setting }) => ({ ...setting, score: scoreOf(sessions, of) })),
    }
  })
}

function panelOf({ benchmark, score, references, settings }: Compared): Panel {
  const point = (label: string, kind: Point['kind'], of: Score): Point => {
    const { interrupted = 0, attackSuccess = 0 } = ratesOf(of)
    return { label, kind, interrupted, attackSuccess }
  }
  const before = ratesOf(score).attackSuccessBefore ?? 0
  return {
    title: titleOf(benchmark),
    points: [
      // Stricter settings interrupt more and stop hardly more: only the table has them.
      ...settings.flatMap(({ label, kind, score: of }) => (label === '' ? [] : [point(label, kind, of)])),
      { label: 'no defence', kind: 'none', interrupted: 0, attackSuccess: before },
      ...references.map(({ policy, score: of }) => point(policy.title, 'reference', of)),
    ],
  }
}

function wrongWrites({ wrongWrite: { allow, require_approval, deny } }: Score): string {
  const all = allow + require_approval + deny
  if (all === 0) return ''
  const writes = `${counted(all, 'write')} that the recorded solution does not have`
  return `In sessions of tau-bench that failed, ${writes}: ${deny} were denied, ${require_approval} held and ${allow} allowed.`
}

function latencyLine(latencies: readonly number[]): string {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
  return `Latency of ${sorted.length.toLocaleString('en')} answers: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms.`
}
