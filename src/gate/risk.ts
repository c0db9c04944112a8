import type { Evaluation } from '../policies/evaluate.ts'

const MAX_TENTHS = 1000

/** One factor of a risk score, in points with one decimal. */
interface RiskFactor {
  name: string
  /** The most that it can contribute. */
  weight: number
  contribution: number
}

export interface Risk {
  /** 0 to 100, with one decimal. */
  score: number
  /** All factors about the action in declared order, those without contribution included. */
  factors: readonly RiskFactor[]
}

/**
 * The risk of an action: each contribution is rounded to tenths, and the sum is made of integer tenths,
 * so that thresholds compare exactly the score that is shown. Without a policy the risk is the highest.
 */
export function assessRisk(evaluation: Evaluation | undefined): Risk {
  if (evaluation === undefined) return { score: 100, factors: [{ name: 'no-policy', weight: 100, contribution: 100 }] }
  let sum = 0
  const factors = evaluation.factors.map(({ factor: { name, weight }, outcome, fraction }): RiskFactor => {
    const tenths = outcome === 'false' ? 0 : Math.round(weight * fraction * 10)
    sum += tenths
    return { contribution: tenths / 10, name, weight }
  })
  return { factors, score: Math.min(MAX_TENTHS, sum) / 10 }
}
