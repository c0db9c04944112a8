import type { Answer } from '../../../client/answer.ts'
import type { AuditEntry } from '../../../client/api.ts'

/** The end of the trail. */
export interface Newest {
  /** Count of entries. */
  total: number
  entry: AuditEntry | undefined
}

export function newestOf({ data, page }: Answer<'auditChain'>): Newest {
  return { total: page.total, entry: data[0] }
}
