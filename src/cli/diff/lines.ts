import {
  changeText,
  DIFFERENCE_TEXT,
  requestText,
  sideText,
  type TenantDiff,
  triedText,
} from '../../authoring/diff/shown.ts'
import { type Line, paint } from '../output.ts'

/** The difference of a tenant for people. */
export function diffLines({ tenant, only, diff, seal }: TenantDiff): Line[] {
  const title: Line = [paint('bold', `policies of ${tenant}`)]
  if (diff === null) return [title, `only the ${only ?? ''} side has policies of this tenant`, '']
  return [
    title,
    triedText(diff),
    ...(diff.changes.length === 0 ? [] : ['']),
    ...diff.changes.map((change): Line => {
      const at =
        change.witness === null ? paint('dim', '  no witness found') : paint('dim', `  see ${change.witness + 1}`)
      return [`  ${changeText(change)}`, at]
    }),
    ...diff.witnesses.flatMap((one, i): Line[] => [
      '',
      [
        `${i + 1}  `,
        paint(one.difference === 'decision' ? 'yellow' : 'dim', DIFFERENCE_TEXT[one.difference]),
        `: ${requestText(one)}`,
      ],
      `    before  ${sideText(one.from)}: ${one.from.reason}`,
      `    after   ${sideText(one.to)}: ${one.to.reason}`,
    ]),
    ...(seal === undefined ? [] : ['', `sealed in entry ${seal.entryId}, report ${seal.report}`]),
    '',
  ]
}
