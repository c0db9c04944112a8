-- One row an entry, in the order of its chain. What is hashed is made again from its columns, to the byte (docs/format.md).

CREATE TABLE chain (number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 1048575), name TEXT NOT NULL UNIQUE) STRICT;

-- Texts that many decisions of a chain share. Numbers are not used again: a connection may still hold the text of one.
CREATE TABLE shared_text (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  chain INTEGER NOT NULL,
  -- Seq of the first entry that has it; a limited number of entries after it do.
  since INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE INDEX shared_text_since ON shared_text (chain, since);

CREATE TABLE audit_entry (
  -- Number of the chain * 2^33 + seq. The fork guard: two entries that follow the same one collide.
  at INTEGER PRIMARY KEY,
  -- In milliseconds.
  ts INTEGER NOT NULL,
  -- Null for decisions, which are nearly all entries.
  type TEXT,
  id BLOB NOT NULL CHECK (length(id) = 16),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  prev BLOB NOT NULL CHECK (length(prev) = 32),
  -- Of the sections in the order of their names, 32 bytes each; zeros are the salt of what was erased.
  commits BLOB NOT NULL,
  salts BLOB NOT NULL CHECK (length(salts) = length(commits)),
  -- Of decisions. What varies in the grounds; the rest is their template. This and the risk are a text, or the number of a shared one.
  action TEXT,
  effect TEXT,
  agent TEXT,
  session TEXT,
  taken INTEGER,
  approval TEXT,
  history_end INTEGER,
  evaluated_at INTEGER,
  grounds ANY,
  risk ANY,
  -- Sections that may be erased, or are large.
  actor TEXT,
  data TEXT,
  detail TEXT,
  request TEXT,
  chain INTEGER GENERATED ALWAYS AS (at >> 33) VIRTUAL,
  seq INTEGER GENERATED ALWAYS AS (at & 8589934591) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX entry_by_id ON audit_entry (id);
CREATE INDEX entry_by_type ON audit_entry (chain, type, at) WHERE type IS NOT NULL;

-- What changed a record, found by the record.
CREATE INDEX entry_by_record ON audit_entry (json_extract(data, '$.id'), at)
  WHERE data IS NOT NULL AND json_extract(data, '$.record') IS NOT NULL;
-- What is told of a decision after it, and who tells.
CREATE INDEX entry_by_decision ON audit_entry (chain, json_extract(data, '$.decisionId'), at)
  WHERE data IS NOT NULL AND json_extract(data, '$.decisionId') IS NOT NULL;
CREATE INDEX entry_by_reporter ON audit_entry (chain, json_extract(data, '$.reportedBy'), at)
  WHERE data IS NOT NULL AND json_extract(data, '$.reportedBy') IS NOT NULL;
-- What was allowed, by time, by agent, and by session: who has done little is not looked for among all that others did.
CREATE INDEX taken_by_all ON audit_entry (at, action) WHERE taken = 1;
CREATE INDEX taken_by_agent ON audit_entry (agent, at, action) WHERE taken = 1;
CREATE INDEX taken_by_session ON audit_entry (agent, session, at, action) WHERE taken = 1 AND session IS NOT NULL;

-- A guard rail against mistakes, not a defence: anyone who can write the file can drop a trigger.
CREATE TRIGGER audit_entry_no_update
  BEFORE UPDATE OF at, ts, type, id, hash, prev, commits, action, effect, agent, session, taken, approval, history_end, evaluated_at, grounds, risk
  ON audit_entry
  BEGIN SELECT raise(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER audit_entry_no_delete BEFORE DELETE ON audit_entry
  WHEN old.seq >= coalesce((SELECT size FROM pruned JOIN chain ON chain.name = pruned.chain WHERE chain.number = old.chain), 0)
  BEGIN SELECT raise(ABORT, 'audit entries are never deleted before they are archived'); END;

-- Entries are moved from here on (move-entries.ts), without what would slow that down.
DROP TRIGGER entry_no_update;
DROP TRIGGER entry_no_delete;
DROP INDEX entry_id;
DROP INDEX entry_type;
DROP INDEX section_record;
DROP INDEX section_taken;
DROP INDEX section_agent;
DROP INDEX section_session;
DROP INDEX section_decision;
DROP INDEX section_reporter;
