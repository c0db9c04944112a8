import { isJsonObject, type Json, storedJson } from '../base/json.ts'
import type { RecordedHead } from './records.ts'

/** Heads of chains in the data of an entry `audit.checkpoint`. @param seq of the entry */
export function headsIn(seq: number, json: string): RecordedHead[] {
  const data = storedJson(json)
  const heads = isJsonObject(data) ? data.checkpoints : undefined
  return Array.isArray(heads) ? heads.flatMap((head) => headOf(seq, head)) : []
}

function headOf(seq: number, value: Json): RecordedHead[] {
  if (!isJsonObject(value)) return []
  const { chain, size, root } = value
  return typeof chain === 'string' && typeof size === 'number' && typeof root === 'string'
    ? [{ seq, chain, size, root }]
    : []
}
