import type { Command } from 'commander'
import { type RangeVerification, verifyEntries, verifyRange } from '../actions/audit.ts'
import type { Deps } from '../actions/deps.ts'
import { AlteredFile } from '../sqlite/open.ts'
import { addAuditListCommand, assertChain } from './audit-list.ts'
import { addAuditLogCommand } from './audit-log.ts'
import { addAuditTailCommand } from './audit-tail.ts'
import { addCommonOptions, type CommonOptions, configOf, EXIT, UsageError, withStore } from './context.ts'
import { print } from './output.ts'

interface VerifyOptions extends CommonOptions {
  chain?: string
  from?: string
  to?: string
}

interface ChainResult extends RangeVerification {
  chain: string
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('read, write and verify the audit trail')
  addAuditListCommand(audit)
  addAuditTailCommand(audit)
  addAuditLogCommand(audit)
  addCommonOptions(audit.command('verify'), { data: true })
    .description('recompute every hash of every chain; exit 1 when one does not follow')
    .option('--chain <name>', 'only this chain, such as acme/live')
    .option('--from <day>', 'first day, YYYY-MM-DD')
    .option('--to <day>', 'last day, YYYY-MM-DD')
    .addHelpText('after', '\nExample:\n  gate-sidecar audit verify --chain acme/live --from 2026-01-01 --to 2026-01-31')
    .action(verify)
}

async function verify(options: VerifyOptions): Promise<void> {
  const { from, to } = options
  if ((from === undefined) !== (to === undefined)) throw new UsageError('--from and --to go together.')
  const { chains, fault } = await verifyStore(options)
  const valid = fault === null && chains.every((result) => result.valid)
  print(options, { valid, chains, fault }, () => [
    ...chains.map(lineOf),
    ...(fault === null ? [] : [`BROKEN: ${fault}`]),
  ])
  if (!valid) process.exitCode = EXIT.negative
}

interface Verified {
  chains: ChainResult[]
  /** Why the file could not even be opened: a head, a record or the schema was altered. */
  fault: string | null
}

async function verifyStore(options: VerifyOptions): Promise<Verified> {
  try {
    return {
      chains: await withStore(configOf(options), { checkApprovals: true }, (deps) => verifyChains(deps, options)),
      fault: null,
    }
  } catch (error) {
    if (error instanceof AlteredFile) return { chains: [], fault: error.message }
    throw error
  }
}

async function verifyChains(deps: Deps, options: VerifyOptions): Promise<ChainResult[]> {
  if (options.chain !== undefined) await assertChain(deps, options.chain)
  const results: ChainResult[] = []
  for (const chain of options.chain === undefined ? await deps.store.chains() : [options.chain])
    results.push({ chain, ...(await verifyChain(deps, chain, options)) })
  return results
}

async function verifyChain(deps: Deps, chain: string, { from, to }: VerifyOptions): Promise<RangeVerification> {
  if (from !== undefined && to !== undefined) return verifyRange(deps, chain, { startDate: from, endDate: to })
  const { total } = await deps.store.page({ chain, order: 'desc', limit: 1, offset: 0 })
  return verifyEntries(deps.store, chain, 0, total, progress(chain)).finally(endProgress)
}

function lineOf({ chain, valid, entriesChecked, fault, firstBadSeq }: ChainResult): string {
  return valid ? `${chain}: ok, ${entriesChecked} entries` : `${chain}: BROKEN at entry ${firstBadSeq}: ${fault}`
}

/** To the start of the line, and nothing left on it. */
const ERASE = '\r\u001b[K'

/** A counter on the terminal's error stream, for chains that take their time. */
function progress(chain: string): (checked: number) => void {
  if (!process.stderr.isTTY) return () => undefined
  return (checked) => void process.stderr.write(`${ERASE}${chain}: ${checked} entries`)
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(ERASE)
}
