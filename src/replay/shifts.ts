import { valueAt } from '../base/grouped.ts'
import type { Outcome, PriorOutcome } from './recorded.ts'

interface FactorShift {
  name: string
  /** Points that it added in all decisions that are compared. */
  before: number
  after: number
  /** Decisions to which it adds another number of points. */
  changed: number
}

/** A fact that the draft misses where the recorded policies missed none of this name. */
interface NewlyMissing {
  fact: string
  /** Rules and factors of the draft that cannot be evaluated without it. */
  of: string[]
  count: number
  first: string
}

/** Changes of scores and facts. */
export interface Shifts {
  factors: FactorShift[]
  /** Comparison of the decisions that have a recorded score. */
  scores: { higher: number; lower: number; same: number; meanBefore: number | null; meanAfter: number | null }
  /** Number of decisions with newly missing facts, and these facts. */
  unevaluable: { decisions: number; facts: NewlyMissing[] }
}

/** Sums in tenths: as in a score, nothing is lost by adding. */
export function scoreShifts() {
  const scores = { higher: 0, lower: 0, same: 0 }
  let [count, sumBefore, sumAfter] = [0, 0, 0]
  const factors = new Map<string, FactorShift>()
  const mean = (sum: number): number | null => (count === 0 ? null : Math.round(sum / count) / 10)
  return {
    add(then: PriorOutcome, now: Outcome): void {
      if (then.riskScore === null) return
      count += 1
      sumBefore += tenths(then.riskScore)
      sumAfter += tenths(now.riskScore)
      scores[now.riskScore > then.riskScore ? 'higher' : now.riskScore < then.riskScore ? 'lower' : 'same'] += 1
      const after = new Map(now.factors.map(({ name, contribution }) => [name, tenths(contribution)]))
      const before = new Map(then.factors.map(({ name, contribution }) => [name, tenths(contribution)]))
      for (const name of new Set([...before.keys(), ...after.keys()])) {
        const [was, is] = [before.get(name) ?? 0, after.get(name) ?? 0]
        const shift = valueAt(factors, name, () => ({ name, before: 0, after: 0, changed: 0 }))
        shift.before += was
        shift.after += is
        shift.changed += was === is ? 0 : 1
      }
    },
    report: () => ({
      scores: { ...scores, meanBefore: mean(sumBefore), meanAfter: mean(sumAfter) },
      factors: Array.from(factors.values(), (one) => ({ ...one, before: one.before / 10, after: one.after / 10 })),
    }),
  }
}

const tenths = (points: number): number => Math.round(points * 10)

/** Counts the facts that the draft misses, and that the recorded policies did not miss. */
export function missingFacts() {
  const facts = new Map<string, NewlyMissing>()
  let decisions = 0
  return {
    add(first: string, then: PriorOutcome | undefined, { unevaluable }: Outcome): void {
      if (unevaluable.length === 0) return
      const known = new Set(then?.unevaluable.flatMap((one) => one.facts))
      const missing = new Set(unevaluable.flatMap((one) => one.facts).filter((fact) => !known.has(fact)))
      if (missing.size > 0) decisions += 1
      for (const fact of missing) {
        const found = valueAt(facts, fact, () => ({ fact, of: [], count: 0, first }))
        found.count += 1
        for (const one of unevaluable)
          if (one.facts.includes(fact) && !found.of.includes(one.name)) found.of.push(one.name)
      }
    },
    report: () => ({ decisions, facts: [...facts.values()].sort((a, b) => b.count - a.count) }),
  }
}
