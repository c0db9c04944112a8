import { visible } from '../base/visible.ts'
import { type Case, combinationText } from './cases.ts'
import { differenceText } from './differences.ts'
import type { CaseResult } from './run.ts'

/** A case as JUnit's reports have it. */
export interface JUnitCase {
  /** The test file: `acme/acme.test.yaml`. */
  readonly file: string
  readonly asked: Case
  /** Undefined for a case that was skipped. */
  readonly result: CaseResult | undefined
  readonly ms: number
}

/**
 * The results as JUnit XML, a suite for each test file, which CI services read.
 *
 * @param traceOf the lines that explain a failure
 */
export function junitOf(cases: readonly JUnitCase[], traceOf: (result: CaseResult) => readonly string[]): string {
  const files = new Map<string, JUnitCase[]>()
  for (const one of cases) files.set(one.file, [...(files.get(one.file) ?? []), one])
  const suites = [...files].flatMap(([file, inFile]) => [
    `  <testsuite ${attributes({ name: file, ...countsOf(inFile) })}>`,
    ...inFile.flatMap((one) => caseLines(one, traceOf)),
    '  </testsuite>',
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name: 'gate-sidecar', ...countsOf(cases) })}>`,
    ...suites,
    '</testsuites>\n',
  ].join('\n')
}

function countsOf(cases: readonly JUnitCase[]): Record<string, string> {
  const failed = cases.filter(({ result }) => result !== undefined && result.differences.length > 0)
  const skipped = cases.filter(({ result }) => result === undefined)
  const ms = cases.reduce((sum, one) => sum + one.ms, 0)
  return {
    tests: String(cases.length),
    failures: String(failed.length),
    errors: '0',
    skipped: String(skipped.length),
    time: seconds(ms),
  }
}

function caseLines(one: JUnitCase, traceOf: (result: CaseResult) => readonly string[]): string[] {
  const { file, asked, result, ms } = one
  const line = attributes({ classname: asked.test.name, name: combinationText(asked), file, time: seconds(ms) })
  if (result === undefined) {
    return [
      `    <testcase ${line}>`,
      `      <skipped ${attributes({ message: asked.test.skip ?? '' })}/>`,
      '    </testcase>',
    ]
  }
  if (result.differences.length === 0) return [`    <testcase ${line}/>`]
  const message = result.differences.map(differenceText).join('; ')
  return [
    `    <testcase ${line}>`,
    `      <failure ${attributes({ message, type: 'difference' })}>${[message, '', ...traceOf(result)].map(escaped).join('\n')}</failure>`,
    '    </testcase>',
  ]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(' ')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** One line of text in XML. Names of tests are foreign: what steers a terminal is shown, and what XML cannot hold is replaced. */
function escaped(text: string): string {
  return visible(text)
    .replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '')
    .replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
}
