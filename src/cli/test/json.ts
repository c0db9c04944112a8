import { type CaseReport, countsOf } from '../../authoring/cases/report.ts'
import type { PolicyTest } from '../../authoring/test-files/cases.ts'
import { positionOf } from '../../authoring/yaml/node.ts'
import { grouped } from '../../base/grouped.ts'

/** The results for scripts: counts, and each test with its cases. */
export function testsJson(reports: readonly CaseReport[], ms: number) {
  const byTest = grouped(reports, ({ asked }) => asked.test)
  return {
    ...countsOf(reports),
    ms: rounded(ms),
    results: [...byTest].map(([test, cases]) => ({
      ...placeOf(test.place),
      name: test.name,
      skip: test.skip ?? null,
      cases: cases.map(caseJson),
    })),
  }
}

function caseJson({ asked, answer, failure, ms }: CaseReport) {
  const { action, context, plan, agent, history } = asked
  return {
    action,
    context: context.name ?? null,
    plan: plan.name ?? null,
    agent: agent.name ?? null,
    history: history.name ?? null,
    outcome: answer === null ? 'skipped' : failure === undefined ? 'passed' : 'failed',
    ms: rounded(ms),
    answer,
    differences: failure?.differences.map(({ place, ...difference }) => ({ ...difference, ...placeOf(place) })) ?? [],
    ...(failure?.explanation !== undefined && { explanation: failure.explanation }),
  }
}

function placeOf({ source, start }: PolicyTest['place']) {
  return { file: source.file, ...positionOf(source, start) }
}

/** Milliseconds with three decimals. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
