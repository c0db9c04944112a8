import type { Answer } from '../../../client/answer.ts'
import type { AuditEntry } from '../../../client/api.ts'

/** The end of the trail. */
export interface Newest {
  /** How many entries there are. */
  total: number
  entry: AuditEntry | undefined
}

export function newestOf({ data, page }: Answer<'auditChain'>): Newest {
  return { total: page.total, entry: data[0] }
}
