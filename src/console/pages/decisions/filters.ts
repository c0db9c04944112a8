import type { Api, RecordedDecision } from '../../../client/api.ts'

type Query = Api['listDecisions']['query']

export const DECISIONS = [
  ['', 'any'],
  ['allow', 'allow'],
  ['deny', 'deny'],
  ['require_approval', 'needs approval'],
] as const satisfies readonly (readonly [RecordedDecision['decision'] | '', string])[]

/** Which decisions are looked for, as it stands in the address. Empty where nothing is asked. */
export interface Filters {
  /** An action or a glob. */
  action: string
  decision: (typeof DECISIONS)[number][0]
  agent: string
  rule: string
  session: string
  minRisk: string
  /** UTC, as the service takes it. */
  from: string
  to: string
}

export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: keyof Filters): string => query.get(name) ?? ''
  const [decision] = DECISIONS.find(([value]) => value === text('decision')) ?? DECISIONS[0]
  return {
    action: text('action'),
    decision,
    agent: text('agent'),
    rule: text('rule'),
    session: text('session'),
    minRisk: text('minRisk'),
    from: text('from'),
    to: text('to'),
  }
}

export function countOf(filters: Filters): number {
  return Object.values(filters).filter((value) => value !== '').length
}

/** As the service takes them. What is no number it refuses, and says so. */
export function queryOf({ decision, minRisk, ...texts }: Filters): Query {
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')),
    ...(decision !== '' && { decision }),
    ...(minRisk !== '' && { minRisk: Number(minRisk) }),
  }
}

/** Crockford's alphabet, as ids have it. */
const ID = /^(dec|aud|apr)_[0-9a-hjkmnp-tv-z]{26}$/

/** Where the record with this id is shown; undefined for what is no id. */
export function pathOfId(text: string): readonly string[] | undefined {
  const id = text.trim()
  const [, kind] = ID.exec(id) ?? []
  if (kind === undefined) return undefined
  return [kind === 'apr' ? 'approvals' : 'decisions', id]
}
