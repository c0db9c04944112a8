import { decodeBase64, encodeBase64 } from '../base/bytes.ts'
import { HASH_BYTES, type TreeHead } from './merkle.ts'

/** The content of a checkpoint: the first `size` entries of this chain have this root. */
export interface Checkpoint extends TreeHead {
  origin: string
  chain: string
}

const SIZE = /^(?:0|[1-9][0-9]{0,15})$/

/** The signed text (C2SP tlog-checkpoint, without extension lines). */
export function checkpointText({ origin, chain, size, root }: Checkpoint): string {
  return `${origin}/${chain}\n${size}\n${encodeBase64(root)}\n`
}

/** Parses a checkpoint's text; undefined for any other. An origin has no `/`, so the first one ends it. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [log = '', size = '', root = '', end, ...more] = text.split('\n')
  const slash = log.indexOf('/')
  const hash = decodeBase64(root)
  if (end !== '' || more.length > 0 || slash < 1 || !SIZE.test(size) || hash?.byteLength !== HASH_BYTES)
    return undefined
  if (!Number.isSafeInteger(Number(size))) return undefined
  return { origin: log.slice(0, slash), chain: log.slice(slash + 1), size: Number(size), root: hash }
}
