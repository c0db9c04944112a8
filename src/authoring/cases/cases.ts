import { globMatches } from '../../base/glob.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  DIMENSIONS,
  type Dimension,
  type Expectation,
  type Fixture,
  type PastAction,
  type PolicyTest,
  type TestAgent,
} from '../test-files/cases.ts'

/** One combination of a test's matrix. */
export interface Case {
  readonly test: PolicyTest
  readonly action: string
  readonly context: Fixture<JsonObject>
  readonly plan: Fixture<JsonObject | undefined>
  readonly agent: Fixture<TestAgent>
  readonly history: Fixture<readonly PastAction[]>
  /** Expectations that select it, all of which must hold; an empty list means that a denial is expected. */
  readonly expectations: readonly Expectation[]
}

/** Every combination of the matrix, in the written order of its names, actions first. */
export function casesOf(test: PolicyTest): Case[] {
  return test.actions.flatMap((action) => {
    const about = test.expectations.filter(({ selector }) => !selector.action || globMatches(selector.action, action))
    return test.contexts.flatMap((context) =>
      test.plans.flatMap((plan) =>
        test.agents.flatMap((agent) =>
          test.histories.map((history) => {
            const asked = { context, plan, agent, history }
            const expectations = about.filter(({ selector }) =>
              DIMENSIONS.every((one) => selector[one] === undefined || selector[one] === asked[one].name),
            )
            return { test, action, ...asked, expectations }
          }),
        ),
      ),
    )
  })
}

/** The combination in words: `payment.transfer, context small, agent bot`; dimensions that the test omits are omitted. */
export function combinationText(asked: Pick<Case, 'action' | Dimension>): string {
  const named = DIMENSIONS.flatMap((dimension) => {
    const { name } = asked[dimension]
    return name === undefined ? [] : [`${dimension} ${name}`]
  })
  return [asked.action, ...named].join(', ')
}
