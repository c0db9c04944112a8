import { isPolicyFile, type PolicySource } from '../../authoring/load/files.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { Store } from '../../store/store.ts'
import { unpack } from './packed.ts'
import { type AlteredText, type Loaded, type PolicyDeps, tryLoad } from './policies.ts'

/** A set from the store, or why there is none: its text is not the recorded one, or this version cannot load it. */
export type StoredSource =
  | (Loaded & { set: PolicySet; source: PolicySource })
  | (Loaded & { set: undefined; code: AlteredText })
  | (Loaded & { set: undefined; code: 'policy_unloadable' })

export interface StoredDeps {
  store: Pick<Store, 'policySource'>
  /** Compiles, isolated from the service. */
  compile: PolicyDeps['compile']
}

/** The set that the stored text compiles to, if it has the digest: the store may have been edited. */
export async function storedSource(
  { store, compile }: StoredDeps,
  tenantId: string,
  digest: string,
): Promise<StoredSource> {
  const text = await store.policySource(tenantId, digest)
  if (text === undefined) return altered('policy_not_kept')
  const whole = unpack(tenantId, text)
  if (whole === undefined) return altered('policy_altered')
  // Tests decide nothing.
  const source = { ...whole, files: whole.files.filter(({ name }) => isPolicyFile(name)) }
  const loaded = await tryLoad(source, compile)
  if (loaded.set === undefined) return { ...loaded, set: undefined, code: 'policy_unloadable' }
  return loaded.set.digest === digest ? { ...loaded, set: loaded.set, source } : altered('policy_altered')
}

function altered(code: AlteredText): StoredSource {
  return { set: undefined, code, faults: [], diagnostics: [], retry: false }
}
