import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { ENVIRONMENTS, type Environment } from '../base/environment.ts'
import { isJsonObject, type JsonObject, storedJson } from '../base/json.ts'

/** Names the bytes an entry hashes, signs or commits to; docs/format.md is the specification. */
export const COMMIT_LABEL = 'gate-sidecar/commit/v1\n'
const LABEL = {
  commit: COMMIT_LABEL,
  genesis: 'gate-sidecar/genesis/v1\n',
  entry: 'gate-sidecar/entry/v1\n',
} as const

export const SALT_BYTES = 32

/** The chain of the service itself: tenants, admin keys, L4 stops. */
export const SYSTEM_CHAIN = '_system'

/** `<tenant>/<live|test>`: live and test never share a chain. */
export function chainOf(tenantId: string, environment: Environment): string {
  return `${tenantId}/${environment}`
}

/** Whose chain it is. @throws TypeError for the chain of the service itself, which is nobody's */
export function ownerOf(chain: string): { tenantId: string; environment: Environment } {
  const [tenantId, name] = chain.split('/')
  const environment = ENVIRONMENTS.find((one) => one === name)
  if (tenantId !== undefined && environment !== undefined) return { tenantId, environment }
  throw new TypeError(`${chain} is not the chain of a tenant`)
}

/** The hashed part of an entry. It holds no personal data, so that it never has to be erased. */
export interface Header {
  chain: string
  /** Name of each section to its salted commitment. */
  commits: Record<string, string>
  id: string
  /** Hash of the entry before, or the genesis value of the chain. */
  prev: string
  /** From 0, without gaps. */
  seq: number
  /** Never earlier than the entry before. */
  ts: string
  type: string
  v: 1
}

/** A part of an entry's content. It can be erased (json and salt) without breaking the chain. */
export interface Section {
  name: string
  salt: Uint8Array
  /** Canonical JSON, exactly the committed text. */
  json: string
}

/** What a section of an entry holds, which was written as JSON here; undefined where it has been erased. */
export function sectionValue({ sections }: Pick<Entry, 'sections'>, name: string): JsonObject | undefined {
  const section = sections.find((candidate) => candidate.name === name)
  return section && JSON.parse(section.json)
}

export interface Entry {
  header: Header
  /** `sha256:` digest of the header. */
  hash: string
  sections: readonly Section[]
}

/** An entry as it is stored: the header's text is exactly the hashed text. */
export interface StoredEntry extends Entry {
  headerText: string
}

/** The newest entry of a chain, or what stands before the first. */
export interface Head {
  seq: number
  hash: string
  /** Milliseconds; 0 before the first entry. */
  tsMs: number
}

/** What the first entry of a chain has as `prev`: it binds the instance and the chain, so that no chain can be moved elsewhere. */
export function genesisHead(origin: string, chain: string): Head {
  return { seq: -1, hash: digestOf(`${LABEL.genesis}${origin}\n${chain}\n`), tsMs: 0 }
}

export function commitment({ name, salt, json }: Section): string {
  return digestOf(`${LABEL.commit}${name}\n`, salt, json)
}

export function hashHeader(headerText: string): string {
  return digestOf(LABEL.entry + headerText)
}

export interface Draft {
  id: string
  chain: string
  type: string
  /** Their texts are canonical JSON. */
  sections: readonly Omit<Section, 'salt'>[]
}

/**
 * Makes `draft` the entry after `head`. The caller holds the write lock from reading `head` until the
 * result is stored; two entries with the same `prev` would be a fork.
 *
 * @param ts the time of the entry, already not earlier than `head`
 * @param salts fresh random bytes, 32 for each section in order
 */
export function seal(head: Head, draft: Draft, ts: string, salts: Uint8Array): StoredEntry {
  const sections = draft.sections.map(({ name, json }, i) => ({
    name,
    salt: salts.subarray(i * SALT_BYTES, (i + 1) * SALT_BYTES),
    json,
  }))
  const header: Header = {
    chain: draft.chain,
    commits: Object.fromEntries(sections.map((section) => [section.name, commitment(section)])),
    id: draft.id,
    prev: head.hash,
    seq: head.seq + 1,
    ts,
    type: draft.type,
    v: 1,
  }
  const headerText = canonicalJson(header)
  return { header, headerText, hash: hashHeader(headerText), sections }
}

/** A header by its text. The text was ours once: where it is not JSON any more, or no header, hashing it says so; undefined then. */
export function readHeader(text: string): Header | undefined {
  const value = storedJson(text)
  return isJsonObject(value) && isJsonObject(value.commits) ? (value as unknown as Header) : undefined
}
