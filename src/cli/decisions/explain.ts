import { existsSync, readFileSync } from 'node:fs'
import { decisionOnHost } from '../../actions/decisions/decisions.ts'
import { explainEntry } from '../../actions/decisions/explain.ts'
import type { Deps } from '../../actions/deps.ts'
import { historyReader } from '../../actions/gate/history.ts'
import { type FindSet, storedSet } from '../../actions/policies/history.ts'
import { DIAGNOSTICS, type DiagnosticCode, pageOf } from '../../authoring/diagnostics/codes.ts'
import { policiesFolder } from '../../service/paths.ts'
import { ROOT } from '../../version.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, EXIT } from '../context.ts'
import { withStore } from '../data-file.ts'
import { type Line, paint, print, undisguisedLines } from '../output.ts'
import { compileHere, setInFolder } from '../tenant-folders.ts'
import { decisionLines, explanationLines, valueText } from './explanation-lines.ts'

export function addExplainCommand(program: GateCommand): void {
  addCommonOptions(program.command('explain <id>'), 'data', 'policies')
    .description(
      'explain a recorded decision from its policies, or a fault code; exit 1 if the entry does not verify or the policies now decide differently',
    )
    .example('explain dec_01hzy3v4q2m8k7t6r5w4x3y2z1', 'explain GATE1203')
    .action(explain)
}

async function explain(id: string, options: CommonOptions): Promise<void> {
  if (/^GATE/i.test(id)) return explainCode(id.toUpperCase(), options)
  const found = await withStore(options, async (deps, config) =>
    explainEntry(
      { ...deps, history: historyReader(deps.store), findSet: findSetIn(deps, policiesFolder(config)) },
      await decisionOnHost(deps.store, id),
    ),
  )
  print(options, found, () => undisguisedLines(linesOf(found)))
  if (!found.verified || found.reproduced === false) options.io.exitCode = EXIT.negative
  else if (found.unexplained !== null) options.io.exitCode = EXIT.failed
}

/** The policies kept in the store; else those of the folder, if their digest matches. */
export function findSetIn({ store }: Deps, root: string | undefined): FindSet {
  return async (tenantId, digest) => {
    const stored = await storedSet({ store, compile: compileHere }, tenantId, digest)
    if ('set' in stored || root === undefined) return stored
    const set = setInFolder(root, tenantId)
    return set?.digest === digest ? { set } : stored
  }
}

type Found = Awaited<ReturnType<typeof explainEntry>>

function linesOf(found: Found): Line[] {
  const { caller, explanation, policyDigest } = found
  const holder = caller.identity ?? caller.name
  return [
    ...decisionLines(found, found.riskScore, explanation),
    `action        ${found.action}, ${found.id}`,
    `asked by      ${caller.keyId}${holder === null ? '' : ` (${holder})`} at ${found.evaluatedAt}`,
    `policy        ${policyDigest ?? 'none in force'}`,
    found.verified
      ? ['verified      ', paint('green', `yes, entry ${found.seq} of ${found.chain}`)]
      : ['verified      ', paint('red', `NO: ${found.fault}`)],
    ...reproducedLines(found),
    ...(explanation === null ? [] : explanationLines(explanation)),
  ]
}

function reproducedLines({ unexplained, reproduced, differences }: Found): Line[] {
  if (unexplained !== null) return [['reproduced    ', paint('yellow', unexplained.message)]]
  if (reproduced) return [['reproduced    ', paint('green', 'yes, these policies decide the same')]]
  return [
    ['reproduced    ', paint('red', 'NO: the recorded decision stands')],
    ...differences.map(
      ({ member, recorded, again }) =>
        `              ${member}: recorded ${valueText(recorded)}, now ${valueText(again)}`,
    ),
  ]
}

/** A page of the documents without its title and marks; null if the program ships without them. */
function pageText(page: string): string | null {
  const path = new URL(page, ROOT)
  if (!existsSync(path)) return null
  const text = readFileSync(path, 'utf8').replace(/^# .*\n/, '')
  return text.replaceAll(/^<!--.*-->\n+/gm, '').trim()
}

function explainCode(code: string, options: CommonOptions): void {
  if (!isCode(code))
    throw new CannotRun(
      `There is no code ${code}. \`gate-sidecar validate\` and \`gate-sidecar lint\` print codes such as GATE1102.`,
    )
  const { severity, title } = DIAGNOSTICS[code]
  const page = pageOf(code)
  const text = pageText(page)
  print(options, { code, severity, title, page, text }, () => [
    `${code}  ${severity}  ${title}`,
    ...(text === null ? [`See ${page}.`] : ['', ...text.split('\n'), '', `From ${page}.`]),
  ])
}

function isCode(text: string): text is DiagnosticCode {
  return Object.hasOwn(DIAGNOSTICS, text)
}
