-- Whether a stop came after the vote follows from places in the chain; no clock tells it.

ALTER TABLE approval ADD COLUMN decided_end INTEGER GENERATED ALWAYS AS (json_extract(body, '$.decidedEnd')) VIRTUAL;

DROP INDEX approval_list;
CREATE INDEX approval_list ON approval (chain, status, expires_at, id, action, domain, created_at, decided_end);
