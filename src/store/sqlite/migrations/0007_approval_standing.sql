-- How an open approval stands is read from the index alone: the body holds the request, which may be large.

ALTER TABLE approval ADD COLUMN action TEXT GENERATED ALWAYS AS (json_extract(body, '$.action')) VIRTUAL;
ALTER TABLE approval ADD COLUMN domain TEXT GENERATED ALWAYS AS (json_extract(body, '$.domain')) VIRTUAL;
ALTER TABLE approval ADD COLUMN created_at TEXT GENERATED ALWAYS AS (json_extract(body, '$.createdAt')) VIRTUAL;
ALTER TABLE approval ADD COLUMN decided_at TEXT GENERATED ALWAYS AS (json_extract(body, '$.decidedAt')) VIRTUAL;

DROP INDEX approval_list;
CREATE INDEX approval_list ON approval (chain, status, expires_at, id, action, domain, created_at, decided_at);
