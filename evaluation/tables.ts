import { table } from '../docs/markdown.ts'
import type { Session } from './corpus.ts'
import type { Setting } from './frontier.ts'
import { ARTEFACTS, type Benchmark, publishedFor } from './published.ts'
import type { ReferencePolicy } from './reference.ts'
import { type Decisions, groupsOf, type Rates, ratesOf, type Score, scoreOf } from './score.ts'

/** A benchmark of which the corpus has the sessions, with the score of each policy on them. */
export interface Compared {
  benchmark: Benchmark
  score: Score
  references: readonly { policy: ReferencePolicy; score: Score }[]
  /** The policies as they are among looser and stricter ones, from the loosest on. */
  settings: readonly (Omit<Setting, 'decisions'> & { score: Score })[]
}

const rate = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(2))
const beforeAfter = (before: number | undefined, ...after: (number | undefined)[]): string =>
  before === undefined ? '' : `${rate(before)} → ${after.map(rate).join(' / ')}`

export function headlineTable(compared: readonly Compared[]): string {
  const rows: readonly [title: string, cell: (rates: Rates, score: Score) => string][] = [
    ['sessions, attacked + clean', (_, { attacked, clean }) => `${attacked.sessions} + ${clean.sessions}`],
    ['attack success', (rates) => beforeAfter(rates.attackSuccessBefore, rates.attackSuccess)],
    ['the same by denials alone', (rates) => beforeAfter(rates.attackSuccessBefore, rates.attackSuccessGranted)],
    ['floor', (rates) => rate(rates.attackSuccessFloor)],
    ["calls for an attacker's goal stopped", (rates) => rate(rates.goalCallsStopped)],
    ['clean sessions interrupted', (rates) => rate(rates.interrupted)],
    ['utility, holds granted / refused', (rates) => utility(rates)],
    ['utility under attack', (rates) => beforeAfter(rates.utilityUnderAttackBefore, rates.utilityUnderAttack)],
  ]
  return table(
    ['percent', ...compared.map(({ benchmark }) => titleOf(benchmark))],
    rows.map(([title, cell]) => [title, ...compared.map(({ score }) => cell(ratesOf(score), score))]),
  )
}

export const titleOf = ({ title, model }: Benchmark): string => `${title}, ${model}`

const utility = (rates: Rates): string => beforeAfter(rates.utilityBefore, rates.utilityGranted, rates.utilityRefused)

/** Each benchmark under a heading of its own: our sessions, then the published runs. */
export function comparisons(compared: readonly Compared[]): string {
  return compared.map((one) => `### ${titleOf(one.benchmark)}\n\n${comparisonTable(one)}`).join('\n\n')
}

function comparisonTable({ benchmark, score, references }: Compared): string {
  const sessions = `${score.attacked.sessions} + ${score.clean.sessions}`
  const ours = (title: string, rates: Rates): string[] => [
    ...[title, rate(rates.attackSuccess), rate(rates.interrupted)],
    `${rate(rates.utilityGranted)} / ${rate(rates.utilityRefused)}`,
    ...[rate(rates.utilityUnderAttack), sessions],
  ]
  const rates = ratesOf(score)
  const { attackSuccessBefore, utilityBefore, utilityUnderAttackBefore } = rates
  const published = publishedFor(benchmark).map((row) => [
    ...[`published: ${row.title}`, rate(row.attackSuccess), '', rate(row.utility), rate(row.utilityUnderAttack)],
    `${row.attacked} + ${row.clean}`,
  ])
  return table(
    ['', 'attack success', 'interrupted', 'utility, granted / refused', 'under attack', 'sessions'],
    [
      ['no defence', rate(attackSuccessBefore), '0.00', rate(utilityBefore), rate(utilityUnderAttackBefore), sessions],
      ours('**gate-sidecar**', rates),
      ...references.map(({ policy, score: of }) => ours(policy.title, ratesOf(of))),
      ...published,
    ],
  )
}

export function referenceTable(policies: readonly ReferencePolicy[]): string {
  return table(
    ['reference policy', 'meaning'],
    policies.map(({ title, meaning }) => [title, meaning]),
  )
}

export function artefactTable(): string {
  return table(
    ['defence', 'model and data', 'attack success', 'utility', 'from'],
    ARTEFACTS.map(({ defence, data, attackSuccess, utility: useful, from }) => [
      ...[defence, data, attackSuccess, useful, from],
    ]),
  )
}

/** A row for each source, and below it one for each of its suites where there are several. */
function bySourceAndSuite(sessions: readonly Session[]): [name: string, of: readonly Session[]][] {
  return [...groupsOf(sessions, 'source')].flatMap(([source, of]): [string, readonly Session[]][] => {
    const suites = [...groupsOf(of, 'suite')]
    return suites.length === 1 ? suites : [[`**${source}**`, of], ...suites]
  })
}

export function attackTable(sessions: readonly Session[], decisions: Decisions): string {
  const rows = bySourceAndSuite(sessions).map(([name, of]) => ({ name, score: scoreOf(of, decisions) }))
  return table(
    ['suite', 'attacked sessions', 'attack success', 'by denials alone', 'floor', 'goal calls stopped'],
    rows
      .filter(({ score }) => score.attacked.sessions > 0)
      .map(({ name, score }) => {
        const rates = ratesOf(score)
        return [
          ...[name, String(score.attacked.sessions), beforeAfter(rates.attackSuccessBefore, rates.attackSuccess)],
          ...[rate(rates.attackSuccessGranted), rate(rates.attackSuccessFloor), rate(rates.goalCallsStopped)],
        ]
      }),
  )
}

export function userTable(sessions: readonly Session[], decisions: Decisions): string {
  return table(
    [
      ...['suite', 'calls of users allowed / held / denied', 'clean sessions', 'interrupted'],
      ...['utility, granted / refused', 'utility under attack'],
    ],
    bySourceAndSuite(sessions).map(([name, of]) => {
      const score = scoreOf(of, decisions)
      const rates = ratesOf(score)
      return [
        ...[name, [rates.benignAllowed, rates.benignHeld, rates.benignDenied].map(rate).join(' / ')],
        ...[String(score.clean.sessions), rate(rates.interrupted), utility(rates)],
        beforeAfter(rates.utilityUnderAttackBefore, rates.utilityUnderAttack),
      ]
    }),
  )
}

/** One row for each source and slice; nothing where all sessions are of one slice. */
export function sliceTable(sessions: readonly Session[], decisions: Decisions): string {
  const slices = groupsOf(sessions, 'slice')
  if (slices.size < 2) return ''
  const rows = [...slices].flatMap(([slice, ofSlice]) =>
    [...groupsOf(ofSlice, 'source')].map(([source, of]) => {
      const score = scoreOf(of, decisions)
      const rates = ratesOf(score)
      return [
        ...[slice, source, `${score.attacked.sessions} + ${score.clean.sessions}`],
        ...[beforeAfter(rates.attackSuccessBefore, rates.attackSuccess), rate(rates.goalCallsStopped)],
        ...[rate(rates.interrupted), utility(rates)],
      ]
    }),
  )
  const header = ['slice', 'source', 'sessions', 'attack success', 'goal calls stopped', 'interrupted']
  return `By slice of the recordings, sessions attacked + clean:\n\n${table([...header, 'utility, granted / refused'], rows)}`
}
