-- Texts that are hashed are stored as they were hashed; every column a query needs is generated from them.

CREATE TABLE instance (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  origin TEXT NOT NULL,
  -- Grows with each change of a record that is kept in memory.
  state_version INTEGER NOT NULL
) STRICT;

CREATE TABLE entry (
  chain TEXT NOT NULL,
  seq INTEGER NOT NULL,
  header TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  id TEXT GENERATED ALWAYS AS (json_extract(header, '$.id')) VIRTUAL,
  ts TEXT GENERATED ALWAYS AS (json_extract(header, '$.ts')) VIRTUAL,
  type TEXT GENERATED ALWAYS AS (json_extract(header, '$.type')) VIRTUAL,
  -- The fork guard: an entry's seq is one more than that of the entry it follows, so two that follow the same one collide.
  PRIMARY KEY (chain, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entry_id ON entry (id);
-- Decisions are nearly all entries, so the others are indexed and decisions are the rest.
CREATE INDEX entry_type ON entry (chain, type, seq) WHERE type <> 'gate.decision';

-- The content of entries. Rows here may be erased; the header's commitments stay.
CREATE TABLE section (
  chain TEXT NOT NULL,
  seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  salt BLOB NOT NULL CHECK (length(salt) = 32),
  json TEXT NOT NULL,
  PRIMARY KEY (chain, seq, name)
) STRICT, WITHOUT ROWID;

-- What changed a record, found by the record.
CREATE INDEX section_record ON section (json_extract(json, '$.id'), chain, seq)
  WHERE name = 'data' AND json_extract(json, '$.record') IS NOT NULL;

-- A guard rail against mistakes, not a defence: who can write the file can drop a trigger.
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT raise(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT raise(ABORT, 'audit entries are never deleted'); END;

-- Records: body is canonical JSON and follows from the chain. changed is the state_version of the last write.
CREATE TABLE tenant (id TEXT PRIMARY KEY, body TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
CREATE TABLE api_key (id TEXT PRIMARY KEY, body TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
CREATE TABLE signing_key (id TEXT PRIMARY KEY, body TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
CREATE TABLE policy (id TEXT PRIMARY KEY, body TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;
CREATE TABLE kill_switch (id TEXT PRIMARY KEY, body TEXT NOT NULL, changed INTEGER NOT NULL) STRICT;

CREATE INDEX tenant_changed ON tenant (changed);
CREATE INDEX api_key_changed ON api_key (changed);
CREATE INDEX signing_key_changed ON signing_key (changed);
CREATE INDEX policy_changed ON policy (changed);
CREATE INDEX kill_switch_changed ON kill_switch (changed);

CREATE TABLE approval (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  changed INTEGER NOT NULL,
  chain TEXT GENERATED ALWAYS AS (json_extract(body, '$.chain')) VIRTUAL,
  status TEXT GENERATED ALWAYS AS (json_extract(body, '$.status')) VIRTUAL,
  digest TEXT GENERATED ALWAYS AS (json_extract(body, '$.digest')) VIRTUAL,
  expires_at TEXT GENERATED ALWAYS AS (json_extract(body, '$.expiresAt')) VIRTUAL,
  requested_by TEXT GENERATED ALWAYS AS (json_extract(body, '$.requestedBy')) VIRTUAL
) STRICT;

CREATE INDEX approval_list ON approval (chain, status, expires_at, id);
CREATE INDEX approval_digest ON approval (chain, digest);
-- Two equal requests at once make one approval.
CREATE UNIQUE INDEX approval_one_pending ON approval (chain, digest) WHERE status = 'pending';
CREATE INDEX approval_due ON approval (status, expires_at);

-- Texts of the policy set in force, found true by the digest in the policy record.
CREATE TABLE policy_source (tenant TEXT PRIMARY KEY, source TEXT NOT NULL) STRICT;

-- Which entry a caller's Idempotency-Key led to; the answer is rebuilt from that entry. at in milliseconds.
CREATE TABLE idempotency (
  key_id TEXT NOT NULL,
  route TEXT NOT NULL,
  value TEXT NOT NULL,
  body_digest TEXT NOT NULL,
  entry_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key_id, route, value)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_at ON idempotency (at);
