import type { Api, RecordedDecision } from '../../../client/api.ts'
import { DECIDED_BY, DECISIONS } from '../../ui/decision-words.ts'

type Query = Api['listDecisions']['query']
type Decision = RecordedDecision['decision']
type Shadow = NonNullable<Query['shadow']>
type Step = RecordedDecision['decidedBy']

/** Options of the filters; the first one matches everything. */
export const DECISION_CHOICES = choicesOf<Decision>(DECISIONS)
export const STEP_CHOICES = choicesOf<Step>(DECIDED_BY)

export const SHADOW_CHOICES: [value: Shadow | '', word: string][] = [
  ['', 'Any'],
  ['differs', 'Decides otherwise'],
  ...DECISION_CHOICES.slice(1).map(([value, word]): [Shadow | '', string] => [value, `Decides: ${word}`]),
]

function choicesOf<T extends string>(words: Record<T, string>): [value: T | '', word: string][] {
  // The keys of a record of words are its values.
  const entries = Object.entries(words) as [T, string][]
  return [['', 'Any'], ...entries]
}

/** Filters of decisions, as the address holds them. Empty ones match everything. */
export interface Filters {
  /** An action or a glob. */
  action: string
  decision: Decision | ''
  decidedBy: Step | ''
  /** Decision of the set in shadow, where it differs. */
  shadow: Shadow | ''
  /** Parts of names, unless `whole` is `yes`. */
  agent: string
  rule: string
  session: string
  /** `yes`: exact names only, as in links from counts. */
  whole: 'yes' | ''
  minRisk: string
  /** UTC, in the format of the service. */
  from: string
  to: string
}

export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: keyof Filters): string => query.get(name) ?? ''
  const [decision] = DECISION_CHOICES.find(([value]) => value === text('decision')) ?? ['' as const]
  const [shadow] = SHADOW_CHOICES.find(([value]) => value === text('shadow')) ?? ['' as const]
  const [decidedBy] = STEP_CHOICES.find(([value]) => value === text('decidedBy')) ?? ['' as const]
  return {
    action: text('action'),
    decision,
    decidedBy,
    shadow,
    agent: text('agent'),
    rule: text('rule'),
    session: text('session'),
    whole: text('whole') === 'yes' ? 'yes' : '',
    minRisk: text('minRisk'),
    from: text('from'),
    to: text('to'),
  }
}

export function countOf(filters: Filters): number {
  return Object.values(filters).filter((value) => value !== '').length
}

/** The query for the service, which rejects invalid numbers with a message. */
export function queryOf({ decision, decidedBy, shadow, whole, minRisk, ...texts }: Filters): Query {
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')),
    ...(decision !== '' && { decision }),
    ...(decidedBy !== '' && { decidedBy }),
    ...(shadow !== '' && { shadow }),
    ...(`${texts.agent}${texts.rule}${texts.session}` !== '' && { match: whole === 'yes' ? 'whole' : 'part' }),
    ...(minRisk !== '' && { minRisk: Number(minRisk) }),
  }
}

/** Crockford's alphabet, as in ids. */
const ID = /^(dec|aud|apr)_[0-9a-hjkmnp-tv-z]{26}$/

/** The path of the record with this id; undefined for an invalid id. */
export function pathOfId(text: string): readonly string[] | undefined {
  const id = text.trim()
  const [, kind] = ID.exec(id) ?? []
  if (kind === undefined) return undefined
  return [kind === 'apr' ? 'approvals' : 'decisions', id]
}
