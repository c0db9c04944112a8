import { existsSync } from 'node:fs'
import { dayRange, type RangeInputs, verifyDays, verifySeqs } from '../../actions/audit/verify-range.ts'
import type { Deps } from '../../actions/deps.ts'
import { rotationsOf, trustOf } from '../../actions/evidence/trust.ts'
import { anchorFile } from '../../anchors/file.ts'
import type { RangeVerification } from '../../audit/range.ts'
import { GateError } from '../../base/errors.ts'
import { claimOf, type Heads, headsOf } from '../../evidence/anchor.ts'
import { publicKeyOf } from '../../evidence/signature.ts'
import { type LogKey, logKeysFor } from '../../evidence/trust.ts'
import { readSigningKey } from '../../files/signing-key.ts'
import type { Config } from '../../service/config.ts'
import { signingKeyPath } from '../../service/paths.ts'
import { lengthOf } from '../../store/bounds.ts'
import { AlteredFile } from '../../store/errors.ts'
import { asUnusable } from '../../store/sqlite/errors.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { CannotRun, type CommonOptions, EXIT, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { columns, type Line, paint, print } from '../output.ts'
import { progressBar } from '../progress.ts'
import { addTrustOptions, type TrustOptions, verifyInputsOf } from '../trust-options.ts'
import { assertChain } from './list.ts'

interface VerifyOptions extends CommonOptions, TrustOptions {
  contents: boolean
  requireAnchor?: boolean
  chain?: string
  from?: string
  to?: string
}

interface ChainResult extends RangeVerification {
  chain: string
}

interface Verified {
  chains: ChainResult[]
  /** The altered record or schema that keeps the service from starting on the file. */
  fault: string | null
  /** True if the log key comes from outside the data file. */
  pinned: boolean
}

export function addAuditVerifyCommand(audit: GateCommand): void {
  addTrustOptions(addCommonOptions(audit.command('verify'), 'data'))
    .description('verify every hash, tree and signature of every chain; exit 1 on any fault')
    .option('--chain <name>', 'only this chain, such as acme/live')
    .option('--from <day>', 'first day, YYYY-MM-DD')
    .option('--to <day>', 'last day, YYYY-MM-DD')
    .option('--no-contents', 'verify only chain, tree and signatures, which is faster')
    .option('--require-anchor', 'exit 1 if an entry is in none of the given and configured anchors')
    .notes(`
Without --trust or --vkey, the trusted log key is the one in the key file of the service.`)
    .example('audit verify --chain acme/live --from 2026-01-01 --to 2026-01-31')
    .action(verify)
}

async function verify(options: VerifyOptions): Promise<void> {
  const { from, to } = options
  if ((from === undefined) !== (to === undefined)) throw new UsageError('Give --from and --to together.')
  const verified = await verifyFile(options)
  const isAnchored = verified.chains.every(({ unanchoredEntries }) => unanchoredEntries === 0)
  const isGood = verified.fault === null && verified.chains.every((result) => result.valid)
  const valid = isGood && (isAnchored || options.requireAnchor !== true)
  print(options, { valid, ...verified }, () => linesOf(verified))
  if (!valid) options.io.exitCode = EXIT.negative
}

/** The chains in the file, whatever its state, and whether the service would start on it. */
async function verifyFile(options: VerifyOptions): Promise<Verified> {
  try {
    const verifyAll = async (deps: Deps, config: Config) => {
      const { logKeys, revoked, pinned, isGiven } = logKeysOf(config, deps, options)
      const anchors = await headsFrom(config, options)
      const inputs = { logKeys, revoked, isPinned: isGiven, anchors, sections: options.contents }
      return { chains: await verifyChains(deps, options, inputs), pinned }
    }
    const { chains, pinned } = await withStore(options, verifyAll, { check: 'nothing' })
    return { chains, pinned, fault: await startFault(options) }
  } catch (error) {
    const fault = damageOf(error)
    if (fault === undefined) throw error
    return { chains: [], pinned: false, fault }
  }
}

/** The damage to a file that cannot be read to its end. */
function damageOf(error: unknown): string | undefined {
  const cause = error instanceof GateError ? asUnusable(error.cause, 'The data file') : error
  return cause instanceof AlteredFile ? cause.message : undefined
}

/** Heads from the configured anchor file and from the options. */
async function headsFrom({ anchorFile: path }: Config, options: VerifyOptions): Promise<Heads> {
  const own = path === null ? [] : (await anchorFile(path).newest()).newest.values()
  const given = verifyInputsOf(options).anchors.flatMap((anchor) => claimOf(anchor) ?? [])
  return headsOf([...own, ...given])
}

/** The fault that keeps the service from starting on the file. */
async function startFault(options: VerifyOptions): Promise<string | null> {
  try {
    await withStore(options, async () => undefined, { check: 'all' })
    return null
  } catch (error) {
    if (error instanceof AlteredFile) return error.message
    throw error
  }
}

/** The trusted log keys: the pinned ones or the key file's, with their predecessors; else those of the data file. */
function logKeysOf(config: Config, { store }: Deps, options: VerifyOptions) {
  const { origin } = store
  const { trust } = verifyInputsOf(options)
  const path = signingKeyPath(config)
  const file = existsSync(path) ? readSigningKey(path) : undefined
  const own: LogKey[] = file === undefined ? [] : [{ name: origin, publicKey: publicKeyOf(file), until: null }]
  const pinned = trust.logKeys.length > 0 ? trust.logKeys : own
  const recorded = trustOf(store)
  const revoked = new Set([...trust.revoked.keys(), ...recorded.revoked.keys()])
  if (pinned.length === 0) return { logKeys: recorded.logKeys, revoked, pinned: false, isGiven: false }
  const { keys, isPinned } = logKeysFor(
    { ...trust, logKeys: pinned },
    { origin, rotations: rotationsOf(store), signedBy: '' },
  )
  if (!isPinned)
    throw new CannotRun(
      `None of the pinned log keys belongs to this trail, whose origin is ${origin}; check --trust and --vkey.`,
    )
  return { logKeys: keys, revoked, pinned: true, isGiven: trust.logKeys.length > 0 }
}

async function verifyChains(
  deps: Deps,
  options: VerifyOptions,
  inputs: RangeInputs & { anchors: NonNullable<RangeInputs['anchors']> },
): Promise<ChainResult[]> {
  const { chain, from, to } = options
  const ever = [...new Set([...(await deps.store.chainsEver()), ...inputs.anchors.keys()])].sort()
  if (chain !== undefined && !ever.includes(chain)) await assertChain(deps, chain)
  const days = from === undefined || to === undefined ? undefined : { startDate: from, endDate: to }
  const results: ChainResult[] = []
  for (const name of chain === undefined ? ever : [chain]) {
    const progress = progressBar(options.io, name, await lengthOf(deps.store, name))
    const result =
      days === undefined
        ? verifySeqs(deps.store, name, undefined, inputs, progress.at)
        : verifyDays(deps.store, days, new Map([[name, await dayRange(deps.store, name, days)]]), inputs, progress.at)
    results.push({ chain: name, ...(await result.finally(progress.end)) })
  }
  return results
}

function linesOf({ chains, fault, pinned }: Verified): Line[] {
  const rows = chains.map((result) => {
    const { chain, valid, status, entriesChecked, firstBadSeq } = result
    const where = firstBadSeq === null ? '' : `entry ${firstBadSeq}: `
    const what = valid ? `${entriesChecked.toLocaleString('en')} entries${gapsOf(result)}` : `${where}${result.fault}`
    return [chain, paint(valid ? 'green' : 'red', valid ? status : status.toUpperCase()), what]
  })
  return [
    ...columns(rows),
    ...(fault === null ? [] : [[paint('red', 'BROKEN'), `: ${fault}`]]),
    ...(pinned || chains.length === 0
      ? []
      : ['The log key comes from the store itself; pin one with --trust or --vkey.']),
  ]
}

function gapsOf({ redactedEntries, unanchoredEntries, unsignedEntries, sealed }: RangeVerification): string {
  const count = (entries: number, what: string) => (entries > 0 ? [`${entries.toLocaleString('en')} ${what}`] : [])
  const unsigned = sealed === true ? 'not signed yet, but sealed' : 'not signed'
  const parts = [
    ...count(redactedEntries, 'with erased sections'),
    ...count(unsignedEntries, unsigned),
    ...count(unanchoredEntries, 'not anchored'),
  ]
  return parts.map((part) => `, ${part}`).join('')
}
