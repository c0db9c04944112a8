import type { PolicySource } from '../../authoring/load/files.ts'
import { canonicalJson } from '../../base/canonical.ts'

/** A PolicySource as JSON. */
interface Packed {
  files: { name: string; base64: string }[]
  lists: { path: string; base64: string }[]
  ignored: string[]
}

/** The text in which the store keeps a source. */
export function pack({ files, lists, ignored }: PolicySource): string {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  const packed: Packed = {
    files: files.map(({ name, bytes }) => ({ name, base64: base64(bytes) })),
    lists: [...lists].flatMap(([path, content]) =>
      content instanceof Uint8Array ? [{ path, base64: base64(content) }] : [],
    ),
    ignored: [...ignored],
  }
  return canonicalJson(packed)
}

/** The source in a stored text; undefined when it is malformed. The caller holds its set to the recorded digest. */
export function unpack(tenant: string, text: string): PolicySource | undefined {
  try {
    const { files, lists, ignored } = JSON.parse(text) as Packed
    if (files.some(({ name }) => typeof name !== 'string')) return undefined
    return {
      tenant,
      files: files.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, 'base64') })),
      lists: new Map(lists.map(({ path, base64 }) => [path, Buffer.from(base64, 'base64')])),
      ignored,
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
