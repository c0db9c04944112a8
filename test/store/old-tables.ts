import type { Database } from 'better-sqlite3'
import { decisionText } from '../../src/audit/draft.ts'
import { type Header, headerTextOf } from '../../src/audit/entry.ts'
import { filled, type Grounds, templateOf, type Varying, varyingOf } from '../../src/audit/grounds.ts'
import { formatDigest, parseDigest } from '../../src/base/digest.ts'
import { idBytes, idOf } from '../../src/base/id.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import type { Decision } from '../../src/policies/set.ts'

/** Offset of each section in the salts of its row, and the column of those that have one. */
const SECTIONS = {
  actor: { isOf: 'type IS NOT NULL', place: 0, text: 'actor' },
  data: { isOf: 'type IS NOT NULL', place: 1, text: 'data' },
  detail: { isOf: 'type IS NOT NULL AND length(commits) > 64', place: 2, text: 'detail' },
  decision: { isOf: 'type IS NULL', place: 0, text: 'decision_text(id, action, effect, ts)' },
  grounds: {
    isOf: 'type IS NULL',
    place: 1,
    text: `grounds_text(iif(typeof(grounds) = 'text', grounds, (SELECT text FROM SCHEMA.shared_text WHERE number = grounds)), approval, agent, evaluated_at,
      history_end, session, taken, action)`,
  },
  request: { isOf: 'type IS NULL', place: 2, text: 'request' },
  risk: {
    isOf: 'type IS NULL',
    place: 3,
    text: "iif(typeof(risk) = 'text', risk, (SELECT text FROM SCHEMA.shared_text WHERE number = risk))",
  },
}

/** Runs a statement that changes rows, also through the views. @returns how many */
export function changesBy(db: Database, sql: string, ...values: unknown[]): number {
  const total = db.prepare<[], number>('SELECT total_changes()').pluck()
  const before = total.get() ?? 0
  db.prepare(sql).run(...values)
  return (total.get() ?? 0) - before
}

/**
 * Lets statements read and alter the trail as what is hashed: views `entry` (chain, seq, header, hash, id, ts, type)
 * and `section` (chain, seq, name, salt, json), as this connection alone sees them.
 *
 * @param schema of the file
 */
export function withTables(db: Database, schema = 'main'): Database {
  addFunctions(db)
  const chain = `(SELECT name FROM ${schema}.chain WHERE number = at >> 33) AS chain`
  const sections = Object.entries(SECTIONS).map(
    ([name, { isOf, place, text }]) =>
      `SELECT at, ${chain}, seq, '${name}' AS name, substr(salts, ${place * 32 + 1}, 32) AS salt,
              ${text.replaceAll('SCHEMA', schema)} AS json
         FROM ${schema}.audit_entry NOT INDEXED WHERE ${isOf} AND ${text.replaceAll('SCHEMA', schema)} IS NOT NULL`,
  )
  db.exec(`
    CREATE TEMP VIEW entry AS
      SELECT at, ${chain}, seq,
             header_text((SELECT name FROM ${schema}.chain WHERE number = at >> 33), seq, ts, type, id, prev, commits) AS header,
             hash, entry_id(id) AS id, ts_text(ts) AS ts, coalesce(type, 'gate.decision') AS type
        FROM ${schema}.audit_entry NOT INDEXED;
    CREATE TEMP VIEW section AS ${sections.join(' UNION ALL ')};`)
  if (schema === 'main') db.exec(TRIGGERS)
  return db
}

const splice = (place: string): string =>
  `CAST(substr(salts, 1, ${place}) || new.salt || substr(salts, ${place} + 33) AS BLOB)`

const ofColumn = (name: string): string => `
  UPDATE audit_entry SET ${name} = new.json, salts = ${splice(String(SECTIONS[name as 'data'].place * 32))}
    WHERE at = old.at AND old.name = '${name}';`

const put = (name: string): string => `
  UPDATE audit_entry SET ${name} = new.json, salts = ${splice(String(SECTIONS[name as 'data'].place * 32))}
    WHERE at = ((SELECT number FROM chain WHERE name = new.chain) << 33) + new.seq AND new.name = '${name}';`

const gone = (name: string, column = name): string =>
  `UPDATE audit_entry SET ${column} = NULL WHERE at = old.at AND old.name = '${name}';`

const TRIGGERS = `
  CREATE TEMP TRIGGER entry_deletion INSTEAD OF DELETE ON entry BEGIN DELETE FROM audit_entry WHERE at = old.at; END;
  CREATE TEMP TRIGGER entry_change INSTEAD OF UPDATE ON entry BEGIN
    INSERT OR IGNORE INTO chain (name) VALUES (new.chain);
    UPDATE audit_entry SET
      at = ((SELECT number FROM chain WHERE name = new.chain) << 33) + new.seq,
      ts = unixepoch(substr(json_extract(new.header, '$.ts'), 1, 19)) * 1000 + substr(json_extract(new.header, '$.ts'), 21, 3),
      type = nullif(json_extract(new.header, '$.type'), 'gate.decision'),
      id = id_bytes(json_extract(new.header, '$.id')), hash = new.hash,
      prev = digest_bytes(json_extract(new.header, '$.prev')), commits = commit_bytes(new.header)
      WHERE at = old.at;
  END;
  CREATE TEMP TRIGGER section_deletion INSTEAD OF DELETE ON section BEGIN
    ${['actor', 'data', 'detail', 'request', 'grounds', 'risk'].map((name) => gone(name)).join('\n')}
    ${gone('decision', 'effect')}
  END;
  CREATE TEMP TRIGGER section_insertion INSTEAD OF INSERT ON section BEGIN
    ${['actor', 'data', 'detail', 'request'].map(put).join('\n')}
  END;
  CREATE TEMP TRIGGER section_change INSTEAD OF UPDATE ON section BEGIN
    ${['actor', 'data', 'detail', 'request'].map(ofColumn).join('\n')}
    INSERT INTO shared_text (chain, since, text) SELECT at >> 33, at & 8589934591,
        iif(old.name = 'grounds', grounds_template(new.json, action), new.json)
      FROM audit_entry WHERE at = old.at AND old.name IN ('grounds', 'risk') AND new.json <> old.json;
    UPDATE audit_entry SET risk = (SELECT max(number) FROM shared_text)
      WHERE at = old.at AND old.name = 'risk' AND new.json <> old.json;
    UPDATE audit_entry SET
      grounds = (SELECT max(number) FROM shared_text), agent = varying(new.json, 'agent', action),
      session = varying(new.json, 'session', action), approval = varying(new.json, 'approvalId', action),
      taken = varying(new.json, 'isTaken', action), history_end = varying(new.json, 'historyEnd', action),
      evaluated_at = varying(new.json, 'evaluatedMs', action)
      WHERE at = old.at AND old.name = 'grounds' AND new.json <> old.json;
    UPDATE audit_entry SET action = json_extract(new.json, '$.action'), effect = json_extract(new.json, '$.decision')
      WHERE at = old.at AND old.name = 'decision';
    UPDATE audit_entry SET salts = CAST(substr(salts, 1, place_of(old.name)) || new.salt || substr(salts, place_of(old.name) + 33) AS BLOB)
      WHERE at = old.at AND old.name IN ('decision', 'grounds', 'risk');
  END;`

function addFunctions(db: Database): void {
  const add = (name: string, make: (...values: never[]) => unknown): void =>
    void db.function(name, { varargs: true }, make)
  add('entry_id', (id: Uint8Array) => idOf('entry', id))
  add('id_bytes', (text: string) => idBytes(text, 'entry') ?? Buffer.alloc(16))
  add('ts_text', formatTimestamp)
  add('digest_bytes', parseDigest)
  add('place_of', (name: keyof typeof SECTIONS) => SECTIONS[name].place * 32)
  add('commit_bytes', (header: string) => {
    const commits: Record<string, string> = JSON.parse(header).commits
    return Buffer.concat(Object.values(commits).map(parseDigest))
  })
  add(
    'header_text',
    (
      chain: string,
      seq: number,
      ts: number,
      type: string | null,
      id: Uint8Array,
      prev: Uint8Array,
      commits: Buffer,
    ) => {
      const names = Object.entries(SECTIONS).flatMap(([name, { isOf }]) =>
        (isOf === 'type IS NULL') === (type === null) ? [name] : [],
      )
      const digests = names.flatMap((name, i) =>
        i * 32 < commits.length ? [[name, formatDigest(commits.subarray(i * 32, i * 32 + 32))]] : [],
      )
      const header: Omit<Header, 'type'> = {
        chain,
        commits: Object.fromEntries(digests),
        id: idOf('entry', id),
        prev: formatDigest(prev),
        seq,
        ts: formatTimestamp(ts),
        v: 1,
      }
      return headerTextOf({ ...header, type: type ?? 'gate.decision' })
    },
  )
  add('decision_text', (id: Uint8Array, action: string | null, effect: Decision | null, ts: number) =>
    action === null || effect === null
      ? null
      : decisionText({ action, decision: effect, id: idOf('decision', id) }, formatTimestamp(ts)),
  )
  add(
    'grounds_text',
    (
      template: string | null,
      approvalId: string | null,
      agent: string | null,
      evaluatedMs: number | null,
      historyEnd: number | null,
      session: string | null,
      taken: number | null,
      action: string | null,
    ) =>
      template === null
        ? null
        : filled(template, { approvalId, agent, evaluatedMs, historyEnd, session, isTaken: taken === 1 }, action ?? ''),
  )
  add('grounds_template', (json: string, action: string) => {
    const grounds: Grounds = JSON.parse(json)
    return grounds.caller === undefined ? json : templateOf(json, varyingOf(grounds, action), action)
  })
  add('varying', (json: string, name: keyof Varying, action: string) => {
    const grounds: Grounds = JSON.parse(json)
    const value = varyingOf(grounds.caller === undefined ? { ...grounds, caller: {} as never } : grounds, action)[name]
    return typeof value === 'boolean' ? (value ? 1 : null) : value
  })
}
