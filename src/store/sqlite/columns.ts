/** Digits of a column of bytes; none for a value of another type, which a damaged file may have. */
export const digitsIn = (column: string): string => `iif(typeof(${column}) = 'blob', lower(hex(${column})), '')`
export const HEADER_COLUMNS = `at, ts, type, id, ${['hash', 'prev', 'commits'].map(digitsIn).join(', ')}`

const CONTENT =
  'salts, action, effect, agent, session, taken, approval, history_end, evaluated_at, grounds, risk, actor, data, detail, request'
export const COLUMNS = `${HEADER_COLUMNS}, ${CONTENT}`
const VALUES = `?, ?, ?, ?, unhex(?), unhex(?), unhex(?), ${CONTENT.replace(/\w+/g, '?')}`
export const INSERT = `INSERT INTO audit_entry (at, ts, type, id, hash, prev, commits, ${CONTENT}) VALUES (${VALUES})`
