import { isPolicyFile, type PolicySource } from '../../authoring/load/files.ts'
import { digestOf } from '../../base/digest.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { PolicyRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { newestLoad } from './loads.ts'
import { unpack } from './packed.ts'
import { type AlteredText, type Loaded, type PolicyDeps, tryLoad } from './policies.ts'

/** A set from the store, or why there is none: its text is not the recorded one, or this version cannot load it. */
export type StoredSource =
  | (Loaded & { set: PolicySet; source: PolicySource })
  | (Loaded & { set: undefined; code: AlteredText })
  | (Loaded & { set: undefined; code: 'policy_unloadable'; source: PolicySource })

export interface StoredDeps {
  store: Pick<Store, 'policySource'>
  /** Compiles, isolated from the service. */
  compile: PolicyDeps['compile']
}

interface Wanted {
  /** Digest of the text, where the entry of the set has it: a text that is not the recorded one is not even parsed. */
  sourceDigest?: string | null | undefined
  /** Leaves out the tests, which decide nothing. @default true */
  withoutTests?: boolean
}

/** The set that the stored text compiles to, if it has the digest: the store may have been edited. */
export async function storedSource(
  { store, compile }: StoredDeps,
  tenantId: string,
  digest: string,
  { sourceDigest, withoutTests = true }: Wanted = {},
): Promise<StoredSource> {
  const text = await store.policySource(tenantId, digest)
  if (text === undefined) return altered('policy_not_kept')
  if (typeof sourceDigest === 'string' && digestOf(text) !== sourceDigest) return altered('policy_altered')
  const whole = unpack(tenantId, text)
  if (whole === undefined) return altered('policy_altered')
  const source = withoutTests ? { ...whole, files: whole.files.filter(({ name }) => isPolicyFile(name)) } : whole
  const loaded = await tryLoad(source, compile)
  if (loaded.set === undefined) return { ...loaded, set: undefined, code: 'policy_unloadable', source }
  return loaded.set.digest === digest ? { ...loaded, set: loaded.set, source } : altered('policy_altered')
}

/** The set of a record, by the entry that put it in force. */
export async function storedInForce(
  deps: StoredDeps & { store: Pick<Store, 'page'> },
  { id, digest, revision }: PolicyRecord,
): Promise<StoredSource> {
  const load = await newestLoad(deps.store, id)
  const sourceDigest = load?.revision === revision ? load.sourceDigest : null
  return storedSource(deps, id, digest, { sourceDigest })
}

function altered(code: AlteredText): StoredSource {
  return { set: undefined, code, faults: [], diagnostics: [], retry: false }
}
