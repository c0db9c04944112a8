import { codeSpan } from '../base/markdown.ts'
import { visible } from '../base/visible.ts'
import type { Kind } from './report.ts'
import { cellOf, changedOf, exceptionsOf, FROMS, type Limited, percentOf, sideText, TOS } from './shown.ts'

/** Kinds of change that a comment shows. */
const MAX_SHOWN = 20

/** The replays in Markdown, for a pull request. */
export function markdownOf(shown: readonly Limited[]): string {
  return `${shown.flatMap(sectionOf).join('\n')}\n`
}

function sectionOf(one: Limited): string[] {
  const { trail, from, to, policyDigest, history, report, limits } = one
  const changed = changedOf(report)
  const cells = FROMS.map((then) => ({ then, counts: TOS.map((now) => cellOf(report, then, now)) }))
  return [
    `### Replay of ${codeSpan(trail)}`,
    '',
    `${codeSpan(policyDigest)} decides ${changed} of ${report.decided} requests otherwise (${percentOf(changed, report.decided)}), from ${from ?? 'the first'} to ${to ?? 'the last'}, with the history of the ${history === 'draft' ? 'draft' : 'record'}.`,
    ...exceptionsOf(one).map((text) => `- ${visible(text)}`),
    '',
    `| then, by the draft → | ${TOS.join(' | ')} |`,
    `| --- | ${TOS.map(() => '---:').join(' | ')} |`,
    ...cells
      .filter(({ counts }) => counts.some((count) => count > 0))
      .map(({ then, counts }) => `| ${then} | ${counts.join(' | ')} |`),
    '',
    ...(report.kinds.length === 0 ? [] : ['| requests | change | first |', '| ---: | --- | --- |']),
    ...report.kinds.slice(0, MAX_SHOWN).map(kindRow),
    ...(report.kinds.length > MAX_SHOWN ? ['', `and ${report.kinds.length - MAX_SHOWN} more kinds of change`] : []),
    ...(limits.length > 0 ? [''] : []),
    ...limits.map(({ limit, count, exceeded }) => `- ${exceeded ? '❌' : '✅'} ${codeSpan(limit)}: ${count}`),
    '',
  ]
}

function kindRow({ from, to, count, first }: Kind): string {
  return `| ${count} | ${codeSpan(sideText(from))} → ${codeSpan(sideText(to))} | ${codeSpan(first.id)} ${codeSpan(first.action)} |`
}
