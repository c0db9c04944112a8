import { xmlText } from '../base/xml.ts'
import { changedOf, kindText, type Limited } from './shown.ts'

/** The replays as JUnit XML: one suite for each trail, and one case for each limit. */
export function junitOf(shown: readonly Limited[]): string {
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...shown.flatMap(suiteOf), '</testsuites>\n'].join(
    '\n',
  )
}

function suiteOf({ trail, report, limits }: Limited): string[] {
  const failures = limits.filter(({ exceeded }) => exceeded).length
  const name = `replay of ${trail}`
  const kinds = report.kinds.map(
    ({ from, to, count, first }) => `${count} ${kindText({ from, to })}, first ${first.id}`,
  )
  const told = [`${changedOf(report)} of ${report.decided} requests change`, ...kinds].map(xmlText).join('\n')
  return [
    `  <testsuite name="${xmlText(name)}" tests="${limits.length}" failures="${failures}" errors="0" skipped="0">`,
    ...limits.flatMap(({ limit, count, exceeded }) => [
      `    <testcase classname="${xmlText(name)}" name="${xmlText(limit)}">`,
      ...(exceeded ? [`      <failure message="${xmlText(`${limit}: ${count}`)}">${told}</failure>`] : []),
      '    </testcase>',
    ]),
    `    <system-out>${told}</system-out>`,
    '  </testsuite>',
  ]
}
