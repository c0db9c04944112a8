import { table } from '../docs/markdown.ts'
import type { Corpus } from './corpus.ts'
import { type ReferencePolicy, referenceDecisions } from './reference.ts'
import { type Decisions, type Rates, ratesOf, type Score } from './score.ts'
import type { Compared } from './tables.ts'

/** The policies as they are, or looser or stricter as a whole, with their decisions. */
export interface Setting {
  kind: 'ours' | 'setting'
  /** Label in the chart; empty for a setting that only the table has. */
  label: string
  meaning: string
  decisions: Decisions
}

const ORDER = ['allow', 'require_approval', 'deny']
/** Reference policies that a stricter setting adds, the one that asks least of people first. */
const STRICTER = ['hold-sensitive-third-party', 'hold-third-party-args', 'hold-write']

/** The settings from the loosest, denials alone, to the one that holds every write. */
export function settingsOf(corpus: Corpus, decisions: Decisions, references: readonly ReferencePolicy[]): Setting[] {
  const stricter = STRICTER.flatMap((wanted) => references.filter(({ id }) => id === wanted))
  return [
    { kind: 'setting', label: 'denials alone', meaning: 'what is held is allowed', decisions: denialsOf(decisions) },
    { kind: 'ours', label: 'gate-sidecar', meaning: 'the policies as they are', decisions },
    ...stricter.map((policy) => ({
      kind: 'setting' as const,
      label: '',
      meaning: `what they allow is still held where the reference policy _${policy.title}_ holds it`,
      decisions: strictestOf(decisions, referenceDecisions(policy, corpus)),
    })),
  ]
}

function denialsOf(decisions: Decisions): Decisions {
  return new Map([...decisions].map(([id, decision]) => [id, decision === 'deny' ? 'deny' : 'allow']))
}

function strictestOf(decisions: Decisions, others: Decisions): Decisions {
  return new Map(
    [...decisions].map(([id, decision]) => {
      const other = others.get(id) ?? 'allow'
      return [id, ORDER.indexOf(other) > ORDER.indexOf(decision) ? other : decision]
    }),
  )
}

/** A row for each setting: attack success, clean sessions interrupted, and the utility when every hold is refused. */
export function frontierTable(compared: readonly Compared[]): string {
  const settings = compared[0]?.settings ?? []
  const cells = (score: Score | undefined): string[] => {
    const { attackSuccess, interrupted, utilityRefused }: Partial<Rates> = score ? ratesOf(score) : {}
    return [attackSuccess, interrupted, utilityRefused].map((rate) => (rate === undefined ? '' : rate.toFixed(2)))
  }
  const titles = compared.map(({ benchmark }) => benchmark.title)
  return table(
    ['setting', ...titles.flatMap((title) => [`${title}: attack success`, 'interrupted', 'utility, refused'])],
    settings.map(({ meaning }, i) => [meaning, ...compared.flatMap((one) => cells(one.settings[i]?.score))]),
  )
}
