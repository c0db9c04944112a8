import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { explainEntry } from '../../actions/decisions/explain.ts'
import type { Deps } from '../../actions/deps.ts'
import { historyReader } from '../../actions/gate/history.ts'
import { type FindSet, storedSet } from '../../actions/policies/history.ts'
import { DIAGNOSTICS, type DiagnosticCode, pageOf } from '../../authoring/diagnostics/codes.ts'
import { compilePolicySet, loadPolicySet } from '../../authoring/load/load.ts'
import { readTenantFolder } from '../../files/read-folders.ts'
import type { PolicySet } from '../../policies/set.ts'
import { ROOT } from '../../version.ts'
import { addCommonOptions, CannotRun, type CommonOptions, configOf, EXIT, withStore } from '../context.ts'
import { type Line, paint, print } from '../output.ts'
import { entryOf } from './decisions.ts'
import { decisionLines, explanationLines, valueText } from './explanation-lines.ts'

export function addExplainCommand(program: Command): void {
  addCommonOptions(program.command('explain <id>'), { data: true, policies: true })
    .description(
      'explain a recorded decision by the policies that made it, or a code of a fault; exit 1 when the entry does not verify or the decision does not come out again',
    )
    .addHelpText(
      'after',
      '\nExample:\n  gate-sidecar explain dec_01hzy3v4q2m8k7t6r5w4x3y2z1\n  gate-sidecar explain GATE1203',
    )
    .action(explain)
}

async function explain(id: string, options: CommonOptions): Promise<void> {
  if (/^GATE/i.test(id)) return explainCode(id.toUpperCase(), options)
  const config = configOf(options)
  const found = await withStore(config, {}, async (deps) =>
    explainEntry(
      { ...deps, history: historyReader(deps.store), findSet: findSetIn(deps, resolve(config.policies)) },
      await entryOf(deps, id),
    ),
  )
  print(options, found, () => linesOf(found))
  if (!found.verified || found.reproduced === false) options.io.exitCode = EXIT.negative
  else if (found.unexplained !== null) options.io.exitCode = EXIT.failed
}

/** The policies kept in the data file; else those of the folder, if their digest matches. */
function findSetIn({ store }: Deps, root: string): FindSet {
  const compile = async (source: Parameters<typeof compilePolicySet>[0]) => ({ value: compilePolicySet(source) })
  return async (tenantId, digest) => {
    const stored = await storedSet({ store, compile }, tenantId, digest)
    if ('set' in stored) return stored
    const set = setInFolder(root, tenantId)
    return set?.digest === digest ? { set } : stored
  }
}

function setInFolder(root: string, tenantId: string): PolicySet | undefined {
  if (!existsSync(join(root, tenantId))) return undefined
  const { source } = readTenantFolder(root, tenantId)
  return 'problem' in source ? undefined : loadPolicySet(source).set
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
    ['reproduced    ', paint('red', 'NO: what is recorded stays what was decided')],
    ...differences.map(
      ({ member, recorded, again }) =>
        `              ${member}: ${valueText(recorded)} is recorded, ${valueText(again)} comes out`,
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
    throw new CannotRun(`There is no code ${code}; the table of faults in docs/policies.md has them all.`)
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
