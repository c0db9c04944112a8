-- Whether a stop came after the request follows from places in the chain; no clock tells it. Approvals of earlier versions
-- lack the place, and no stop pauses them.

ALTER TABLE approval ADD COLUMN requested_end INTEGER
  GENERATED ALWAYS AS (coalesce(json_extract(body, '$.requestedEnd'), 9007199254740991)) VIRTUAL;

DROP INDEX approval_list;
CREATE INDEX approval_list ON approval (chain, status, expires_at, id, action, domain, created_at, requested_end, decided_end);
