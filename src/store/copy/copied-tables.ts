/** Columns of a table that a copy takes along as they are. Both engines have them, under the same names. */
interface CopiedColumns {
  /** Columns by which its rows are read in order. */
  key: readonly string[]
  others: readonly string[]
}

const RECORDS = { key: ['id'], others: ['body', 'changed'] }

/**
 * Tables beside the entries and the ends of their chains. Trials and the leases of sidecars mean nothing elsewhere;
 * shared texts, and the columns by which a server finds approvals, are made anew.
 */
export const COPIED = {
  tenant: RECORDS,
  api_key: RECORDS,
  signing_key: RECORDS,
  policy: RECORDS,
  kill_switch: RECORDS,
  approval: { key: ['id'], others: ['body'] },
  checkpoint: { key: ['number'], others: ['chain', 'size', 'note'] },
  tree_node: { key: ['chain', 'level', 'place'], others: ['hash'] },
  anchored: { key: ['sink'], others: ['number', 'at'] },
  key_use: { key: ['key_id'], others: ['at'] },
  idempotency: { key: ['key_id', 'route', 'value'], others: ['body_digest', 'entry_id', 'at'] },
  policy_text: { key: ['tenant', 'digest'], others: ['loaded', 'bytes', 'source'] },
} as const satisfies Record<string, CopiedColumns>

export type CopiedTable = keyof typeof COPIED
export const COPIED_TABLES = Object.keys(COPIED) as readonly CopiedTable[]

type Value = string | number | Uint8Array | null
/** Values of the key, then of the other columns. */
export type CopiedRow = readonly Value[]

/** Names of tables and parameters in the SQL of an engine. */
interface Dialect {
  schema: string
  parameter(number: number): string
}

const columnsOf = (table: CopiedTable): readonly string[] => [...COPIED[table].key, ...COPIED[table].others]

export function keyOf(table: CopiedTable, row: CopiedRow): CopiedRow {
  return row.slice(0, COPIED[table].key.length)
}

/** Reads rows in the order of their keys. Its parameters are the key after which it begins, unless at the first, and a limit. */
export function pageSql({ schema, parameter }: Dialect, table: CopiedTable, isFirst: boolean): string {
  const { key } = COPIED[table]
  const begin = isFirst ? [] : key.map((_, i) => parameter(i + 1))
  const after = isFirst ? '' : `WHERE (${key.join(', ')}) > (${begin.join(', ')})`
  const limit = parameter(begin.length + 1)
  return `SELECT ${columnsOf(table).join(', ')} FROM ${schema}${table} ${after} ORDER BY ${key.join(', ')} LIMIT ${limit}`
}

/** @param more columns of this engine alone, behind the others */
export function insertSql({ schema, parameter }: Dialect, table: CopiedTable, more: readonly string[] = []): string {
  const columns = [...columnsOf(table), ...more]
  const values = columns.map((_, i) => parameter(i + 1))
  return `INSERT INTO ${schema}${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`
}
