import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { equalBytes } from '../../base/bytes.ts'
import { formatDigest } from '../../base/digest.ts'
import type { Claim } from '../../evidence/anchor.ts'
import { quickVerifier } from '../../evidence/ed25519.ts'
import { openCheckpoint } from '../../evidence/trust.ts'
import { oldestOf } from '../../store/bounds.ts'
import type { Store } from '../../store/store.ts'
import { trustOf } from '../evidence/trust.ts'

/** A contradiction between an anchor and the data file about one chain. */
export interface Discrepancy {
  chain: string
  /** The chain lost anchored entries (rollback), or continued differently (fork). */
  status: 'ROLLBACK' | 'FORK'
  anchored: { size: number; root: string }
  /** The chain in the data file; without a root where it has no entries. */
  found: { size: number; root: string | null }
  why: string
}

/**
 * Compares the data file with the newest anchor of each chain.
 *
 * @throws GateError `audit_unavailable` when an entry is missing
 */
export async function compareAnchors(store: Store, newest: ReadonlyMap<string, Claim>): Promise<Discrepancy[]> {
  const { logKeys } = trustOf(store)
  const lengths = await store.lengths([...newest.keys()])
  const verify = quickVerifier()
  const rootAt = async (chain: string, size: number) => (await store.treeHashes(chain, [{ begin: 0, end: size }]))[0]

  /** Undefined where both agree. */
  const fault = async (claim: Claim, length: number): Promise<Pick<Discrepancy, 'status' | 'why'> | undefined> => {
    if (claim.origin !== store.origin) return { status: 'FORK', why: 'the anchor is of another instance' }
    if (openCheckpoint(claim.note, logKeys, verify) === undefined)
      return { status: 'FORK', why: 'the anchor is not signed by a log key of this instance' }
    if (length < claim.size) return { status: 'ROLLBACK', why: 'the newest entries are missing' }
    if (claim.size < (await oldestOf(store, claim.chain)))
      return { status: 'FORK', why: 'what the anchor holds was pruned, and cannot be compared' }
    const root = await rootAt(claim.chain, claim.size)
    if (root !== undefined && equalBytes(root, claim.root)) return undefined
    return { status: 'FORK', why: 'its entries are not those of the anchor' }
  }

  const found: Discrepancy[] = []
  for (const [chain, claim] of newest) {
    const size = lengths.get(chain) ?? 0
    const differs = await fault(claim, size)
    if (differs === undefined) continue
    const root = size === 0 ? undefined : await rootAt(chain, size)
    const anchored = { size: claim.size, root: formatDigest(claim.root) }
    found.push({ chain, ...differs, anchored, found: { size, root: root === undefined ? null : formatDigest(root) } })
  }
  return found
}

/** A sentence for callers of these chains. It reveals nothing of other chains, not even their names. */
export function reasonOf(discrepancies: readonly Discrepancy[], chains: readonly string[]): string {
  const shown = discrepancies.find(({ chain }) => chain === SYSTEM_CHAIN || chains.includes(chain))
  const what =
    shown === undefined ? `${discrepancies[0]?.status}: an audit chain contradicts its anchor` : lineOf(shown)
  return `${what}. Nothing is written until that is settled; see \`gate-sidecar audit restore\`.`
}

export function lineOf({ chain, status, anchored, found, why }: Discrepancy): string {
  return `${status}: audit chain ${chain} has ${found.size} entries and its anchor ${anchored.size}; ${why}`
}
