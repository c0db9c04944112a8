import { codeSpan } from '../../base/markdown.ts'
import { changeText, DIFFERENCE_TEXT, requestText, sideText, type TenantDiff, triedText } from './shown.ts'

/** Witnesses in a comment. */
const MAX_SHOWN = 20

/** The differences in Markdown, for a pull request. */
export function diffMarkdown(diffs: readonly TenantDiff[]): string {
  return `${diffs.flatMap(sectionOf).join('\n')}\n`
}

function sectionOf({ tenant, only, diff }: TenantDiff): string[] {
  const title = `### Policies of ${codeSpan(tenant)}`
  if (diff === null) return [title, '', `Only the ${only ?? ''} side has policies of this tenant.`, '']
  const shown = diff.witnesses.slice(0, MAX_SHOWN)
  return [
    title,
    '',
    `${triedText(diff)}.`,
    '',
    ...diff.changes.map((change) => `- ${codeSpan(changeText(change))}`),
    ...(diff.changes.length === 0 ? [] : ['']),
    ...(shown.length === 0 ? [] : ['| difference | request | before | after |', '| --- | --- | --- | --- |']),
    ...shown.map(
      (one) =>
        `| ${DIFFERENCE_TEXT[one.difference]} | ${codeSpan(requestText(one))} | ${codeSpan(sideText(one.from))} | ${codeSpan(sideText(one.to))} |`,
    ),
    ...(diff.witnesses.length > MAX_SHOWN ? ['', `and ${diff.witnesses.length - MAX_SHOWN} more`] : []),
    '',
  ]
}
