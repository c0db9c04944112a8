import { globMatches } from '../base/glob.ts'
import type { JsonObject } from '../base/json.ts'
import type { Expectation, Fixture, PolicyTest, TestAgent } from '../policy/tests/cases.ts'

/** One combination of a test's matrix. */
export interface Case {
  readonly test: PolicyTest
  readonly action: string
  readonly context: Fixture<JsonObject>
  readonly plan: Fixture<JsonObject | undefined>
  readonly agent: Fixture<TestAgent>
  /** Those that select it, all of which must hold; none means that a denial is expected. */
  readonly expectations: readonly Expectation[]
}

/** Every combination of the matrix, in the order in which its names are written, actions first. */
export function casesOf(test: PolicyTest): Case[] {
  return test.actions.flatMap((action) => {
    const about = test.expectations.filter(({ selector }) => !selector.action || globMatches(selector.action, action))
    return test.contexts.flatMap((context) =>
      test.plans.flatMap((plan) =>
        test.agents.map((agent) => {
          const expectations = about.filter(
            ({ selector }) =>
              selects(selector.context, context) && selects(selector.plan, plan) && selects(selector.agent, agent),
          )
          return { test, action, context, plan, agent, expectations }
        }),
      ),
    )
  })
}

function selects(wanted: string | undefined, { name }: Fixture<unknown>): boolean {
  return wanted === undefined || wanted === name
}

/** The combination in words: `payment.transfer, context small, agent bot`; what the test leaves out is left out. */
export function combinationText({ action, context, plan, agent }: Pick<Case, 'action' | 'context' | 'plan' | 'agent'>) {
  const named = Object.entries({ context, plan, agent }).flatMap(([dimension, { name }]) =>
    name === undefined ? [] : [`${dimension} ${name}`],
  )
  return [action, ...named].join(', ')
}
