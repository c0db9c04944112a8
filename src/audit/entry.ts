import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { isJsonObject, type JsonObject, storedJson } from '../base/json.ts'
import type { Head } from './chain.ts'

/** Labels of the bytes that an entry hashes or commits to; docs/format.md is the specification. */
const COMMIT_LABEL = 'gate-sidecar/commit/v1\n'
const ENTRY_LABEL = 'gate-sidecar/entry/v1\n'

export const SALT_BYTES = 32

/** The hashed part of an entry. It holds no personal data, so it never has to be erased. */
export interface Header {
  chain: string
  /** Name of each section to its salted commitment. */
  commits: Record<string, string>
  id: string
  /** Hash of the previous entry, or the genesis value of the chain. */
  prev: string
  /** From 0, without gaps. */
  seq: number
  /** Never earlier than the previous entry's. */
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

/** The content of an entry's section, which was written as JSON here; undefined when it has been erased. */
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

export function commitment({ name, salt, json }: Section): string {
  return digestOf(`${COMMIT_LABEL}${name}\n`, salt, json)
}

/**
 * Canonical text of a header whose sections are in the order of their names. These, its digests and its id are of our
 * form, and need no escape.
 */
export function headerTextOf({ chain, commits, id, prev, seq, ts, type }: Header): string {
  let sections = ''
  for (const name of Object.keys(commits)) sections += `${sections === '' ? '' : ','}"${name}":"${commits[name]}"`
  return `{"chain":${canonicalJson(chain)},"commits":{${sections}},"id":"${id}","prev":"${prev}","seq":${seq},"ts":"${ts}","type":${canonicalJson(type)},"v":1}`
}

export function hashHeader(headerText: string): string {
  return digestOf(ENTRY_LABEL + headerText)
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
    commits: Object.fromEntries(sections.map((section) => [section.name, commitment(section)]).sort(byName)),
    id: draft.id,
    prev: head.hash,
    seq: head.seq + 1,
    ts,
    type: draft.type,
    v: 1,
  }
  const headerText = headerTextOf(header)
  return { header, headerText, hash: hashHeader(headerText), sections }
}

function byName([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return a < b ? -1 : 1
}

/**
 * Parses a header's text; undefined for anything else. The text was written here once, and its hash reveals any damage.
 */
export function readHeader(text: string): Header | undefined {
  const value = storedJson(text)
  return isJsonObject(value) && isJsonObject(value.commits) ? (value as unknown as Header) : undefined
}
