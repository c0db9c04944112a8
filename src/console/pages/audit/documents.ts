/** Documents for verifying evidence, classified by content and not by file name. */

export const KINDS = ['evidence', 'trust', 'anchors'] as const
export type Kind = (typeof KINDS)[number]

/** Limit above every bundle (docs/evidence.md, Notation). */
const MAX_BYTES = 64 * 1024 * 1024

export interface Document {
  /** File name, as its owner chose it. */
  name: string
  bytes: Uint8Array
}

export type Sorted = { kind: Kind; document: Document } | { fault: string; name: string }

/** Reads a file up to the size limit. */
export async function readDocument(file: File): Promise<Sorted> {
  const { name, size } = file
  if (size > MAX_BYTES) {
    const megabytes = Math.ceil(size / 1024 / 1024).toLocaleString()
    return { name, fault: `It has ${megabytes} MiB. A bundle has at most 64 MiB, so it was not read.` }
  }
  try {
    return sortDocument({ name, bytes: new Uint8Array(await file.arrayBuffer()) })
  } catch (error) {
    return { name, fault: `It cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** The kind of a document, or the reason for refusing it. */
export function sortDocument(document: Document): Sorted {
  const { name, bytes } = document
  const text = textOf(bytes)
  if (text === undefined) return { name, fault: 'It is not UTF-8 text.' }
  const value = parsed(text)
  const kind = kindOf(value ?? parsed(text.split('\n', 1)[0] ?? ''))
  if (kind !== undefined) return { kind, document }
  if (value === undefined) return { name, fault: 'It is not JSON.' }
  if (members(value).includes('files'))
    return {
      name,
      fault:
        'It is the manifest of an export. Verify its folder on the command line: gate-sidecar evidence verify FOLDER.',
    }
  return { name, fault: 'It is JSON, but not a bundle, a trust file or anchors.' }
}

/** Members that identify each kind. The verifier checks validity. */
function kindOf(value: unknown): Kind | undefined {
  const names = members(value)
  if (names.includes('logKeys')) return 'trust'
  if (names.includes('checkpoint') && names.includes('at')) return 'anchors'
  return ['bundleId', 'proof', 'auditChain', 'payloadType'].some((name) => names.includes(name))
    ? 'evidence'
    : undefined
}

function members(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Bytes that are not UTF-8.
    return undefined
  }
}

/** Undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The contents of a bundle, enveloped or not. Call it only after the verifier has accepted the format. */
export function bundleIn(evidence: Document): unknown {
  const value = parsed(textOf(evidence.bytes) ?? '')
  const { payload } = Object(value)
  if (typeof payload !== 'string') return value
  return parsed(textOf(Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0))) ?? '')
}
