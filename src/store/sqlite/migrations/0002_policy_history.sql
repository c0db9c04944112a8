-- Texts of the policy sets that were in force, each found true by its digest: an old decision is explained by the set that made it.

CREATE TABLE policy_text (
  tenant TEXT NOT NULL,
  digest TEXT NOT NULL,
  -- Grows with each loading of the tenant's policies; a set that comes into force again is the newest again.
  loaded INTEGER NOT NULL,
  -- Of the source.
  bytes INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (tenant, digest)
) STRICT;

INSERT INTO policy_text (tenant, digest, loaded, bytes, source)
  SELECT policy_source.tenant, json_extract(policy.body, '$.digest'), 1, octet_length(policy_source.source), policy_source.source
  FROM policy_source JOIN policy ON policy.id = policy_source.tenant;

DROP TABLE policy_source;
