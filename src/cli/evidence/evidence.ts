import { readFileSync, statSync } from 'node:fs'
import { decisionOnHost } from '../../actions/decisions/decisions.ts'
import { exportBundle, exportEnvelope } from '../../actions/evidence/evidence.ts'
import { exportPolicyChange } from '../../actions/evidence/policy-change.ts'
import { trailOf } from '../../audit/chain.ts'
import { counted } from '../../base/counted.ts'
import { isDigest } from '../../base/digest.ts'
import { verifyBundleText } from '../../evidence/verify.ts'
import { type ExportVerification, verifyExport } from '../../evidence/verify-export.ts'
import { readExport } from '../../files/export-folder.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, EXIT, UsageError } from '../context.ts'
import { assertTenant, withStore } from '../data-file.ts'
import { verdictLines, verdictOf } from '../gate/verdict-lines.ts'
import { print, writeOut } from '../output.ts'
import { addTrustOptions, type TrustOptions, verifyInputsOf } from '../trust-options.ts'
import { withKeyring } from './keyring.ts'

/** Limit above every bundle. */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024

export function addEvidenceCommands(program: GateCommand): void {
  const evidence = program.command('evidence').description('export and verify signed evidence of decisions')
  addCommonOptions(evidence.command('export <decision>'), 'data')
    .description('export the trust bundle of a decision')
    .option('--out <file>', 'file to write (default: stdout)')
    .option('--dsse', 'wrap the bundle in a DSSE envelope')
    .example('evidence export dec_01hzy3v4q2m8k7t6r5w4x3y2z1 --out bundle.json')
    .action(exportCommand)
  addCommonOptions(evidence.command('policy-change <digest>'), 'data')
    .description('export what the trail tells of a policy set: how it was compared, tried and put in force')
    .requiredOption('--tenant <id>', 'the tenant')
    .option('--out <file>', 'file to write (default: stdout)')
    .example('evidence policy-change sha256:9f86d08… --tenant acme --out change.json')
    .action(policyChangeCommand)
  addTrustOptions(addCommonOptions(evidence.command('verify <file>')))
    .description('verify a bundle, an envelope, a policy change or the folder of an export, offline')
    .example('evidence verify bundle.json --trust trust.json')
    .notes('\nExit codes: 0 valid, 1 invalid, 2 incomplete or no key pinned, 3 could not run.')
    .action(verifyCommand)
}

async function exportCommand(id: string, options: CommonOptions & { out?: string; dsse?: boolean }): Promise<void> {
  const exported = await withStore(options, async (deps, config) => {
    const { header } = await decisionOnHost(deps.store, id)
    const evidence = await withKeyring(deps, config)
    return (options.dsse ? exportEnvelope : exportBundle)(evidence, trailOf(header.chain), id)
  })
  const file = writeOut(options, exported)
  if (file !== undefined) print(options, { decision: id, file }, () => [`The evidence of ${id} is in ${file}.`])
}

async function policyChangeCommand(
  digest: string,
  options: CommonOptions & { tenant: string; out?: string },
): Promise<void> {
  const { tenant } = options
  if (!isDigest(digest))
    throw new UsageError(
      `${digest} is not a digest such as \`gate-sidecar policies history --tenant ${tenant}\` lists.`,
    )
  const exported = await withStore(options, async (deps, config) => {
    assertTenant(deps, tenant)
    return exportPolicyChange(await withKeyring(deps, config), tenant, digest)
  })
  const file = writeOut(options, exported)
  const { length } = exported.entries
  if (file !== undefined)
    print(options, { digest, entries: length, file }, () => [`The entries about the set are in ${file}.`])
}

function readBundle(file: string): Uint8Array {
  const stat = statSync(file)
  // Other kinds of files have no length, and may have no end.
  if (!stat.isFile()) throw new CannotRun(`${file} is not a regular file.`)
  if (stat.size > MAX_BUNDLE_BYTES) throw new CannotRun(`${file} is too large to be a bundle.`)
  return readFileSync(file)
}

async function verifyCommand(file: string, options: CommonOptions & TrustOptions): Promise<void> {
  const inputs = verifyInputsOf(options)
  if (statSync(file).isDirectory()) return verifyFolder(await verifyExport(readExport(file), inputs), options)
  const result = verifyBundleText(readBundle(file), inputs)
  print(options, result, () => verdictLines(result))
  options.io.exitCode = verdictOf(result).exitCode
}

/** Prints the verdict on an export, and what its entries record against the rules. */
function verifyFolder(result: ExportVerification, options: CommonOptions): void {
  const all = [result, ...result.lanes]
  const unjudged = all.reduce((sum, { rules }) => sum + (rules?.unjudged ?? 0), 0)
  const unlawful = all.flatMap(({ chain, rules }) => (rules?.first ? { chain, ...rules, ...rules.first } : []))
  const lines = [
    ...(unjudged === 0 ? [] : [`Not judged, because the export lacks the entries: ${counted(unjudged, 'check')}.`]),
    ...unlawful.map(
      ({ chain, unlawfulEntries, seq, what, rule }) =>
        `UNLAWFUL, ${counted(unlawfulEntries, 'time')}: entry ${seq} of ${chain}: ${what} (rule ${rule}).`,
    ),
  ]
  print(options, result, () => [...lines, ...verdictLines(result)])
  options.io.exitCode = unlawful.length === 0 ? verdictOf(result).exitCode : EXIT.negative
}
