-- Least-privilege roles for a fleet of gate-sidecars.
--
-- Run it as an administrator after `gate-sidecar store migrate`, on the same database, and again after each migration:
--
--   psql --set ON_ERROR_STOP=1 --file deploy/roles.sql postgres://admin@db.internal/gate
--
-- The database should serve nothing else. The roles cannot log in and have no password. Make a login for each process:
--
--   CREATE ROLE migrator LOGIN IN ROLE gate_owner;  ALTER ROLE migrator SET role = 'gate_owner';
--   CREATE ROLE sidecar LOGIN IN ROLE gate_sidecar;
--   CREATE ROLE custodian LOGIN IN ROLE gate_custodian;
--   CREATE ROLE auditor LOGIN IN ROLE gate_auditor;
--
-- | role           | for                              | may                                                          |
-- | -------------- | -------------------------------- | ------------------------------------------------------------ |
-- | gate_owner     | `store migrate`                  | everything: it owns the schema                               |
-- | gate_sidecar   | `serve`, `keys`, `audit export`… | append entries; change keys, stops, approvals; never entries |
-- | gate_custodian | `audit redact`, `audit prune`    | the same; erase sections of entries, delete pruned entries   |
-- | gate_auditor   | `audit verify`, `audit list`     | read everything, without the log key                         |
--
-- An export is signed and recorded, so that the role of a sidecar makes it; an auditor verifies it.
BEGIN;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['gate_owner', 'gate_sidecar', 'gate_custodian', 'gate_auditor'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  -- An administrator who is not a superuser gives objects only to roles that it belongs to.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT gate_owner TO %I', current_user);
  END IF;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM gate_sidecar, gate_custodian, gate_auditor', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO gate_owner, gate_sidecar, gate_custodian, gate_auditor', current_database());
  -- CREATE SCHEMA IF NOT EXISTS asks for it even when the schema exists.
  EXECUTE format('GRANT CREATE ON DATABASE %I TO gate_owner', current_database());
END $$;

-- A custodian does all that a sidecar does: its commands append entries too.
GRANT gate_sidecar TO gate_custodian;

-- The owner of tables can disable triggers and grant itself everything, so that no sidecar may be it.
DO $$
DECLARE
  object record;
BEGIN
  FOR object IN
    SELECT 'TABLE' AS kind, oid::regclass::text AS name FROM pg_class
      WHERE relnamespace = 'gate'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
    UNION ALL
    SELECT 'ROUTINE', oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'gate'::regnamespace
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO gate_owner', object.kind, object.name);
  END LOOP;
END $$;
ALTER SCHEMA gate OWNER TO gate_owner;

-- What an earlier version of this file granted ends here.
REVOKE ALL ON SCHEMA gate FROM PUBLIC, gate_sidecar, gate_custodian, gate_auditor;
REVOKE ALL ON ALL TABLES IN SCHEMA gate FROM PUBLIC, gate_sidecar, gate_custodian, gate_auditor;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA gate FROM PUBLIC, gate_sidecar, gate_custodian, gate_auditor;
-- Triggers run without it; functions that sidecars call are granted below.
REVOKE ALL ON ALL ROUTINES IN SCHEMA gate FROM PUBLIC, gate_sidecar, gate_custodian, gate_auditor;

GRANT USAGE ON SCHEMA gate TO gate_sidecar, gate_custodian, gate_auditor;
GRANT SELECT ON ALL TABLES IN SCHEMA gate TO gate_sidecar, gate_custodian, gate_auditor;
-- The tenant that a login serves; see deploy/tenants.sql.
GRANT EXECUTE ON FUNCTION gate.own_tenant, gate.reads, gate.writes, gate.tenant_of
  TO gate_sidecar, gate_custodian, gate_auditor;

-- Entries are appended; nobody but the custodian changes or deletes one.
GRANT INSERT ON gate.audit_entry, gate.shared_text TO gate_sidecar;
-- The end of a chain with its seal. A lock of the row asks for UPDATE of one column. Not `pruned`, below which the
-- trigger lets entries be deleted.
GRANT INSERT (name, state), UPDATE (length, hash, state, sealed_size, seal_key, seal) ON gate.chain TO gate_sidecar;
GRANT UPDATE (state_version) ON gate.instance TO gate_sidecar;
-- Records: what a sidecar changes in them, it records in an entry, and readers hold them to the entries.
GRANT INSERT, UPDATE (body, changed)
  ON gate.tenant, gate.api_key, gate.signing_key, gate.policy, gate.kill_switch TO gate_sidecar;
GRANT INSERT, UPDATE (body, status, expires_at, standing) ON gate.approval TO gate_sidecar;
-- Lanes are held by lease, with what the holder tells of itself, and counters for the time of a decision.
GRANT INSERT, UPDATE (token, holder, tenant, signs, expires_at, name, version, started_at, heard_at, policies)
  ON gate.sidecar TO gate_sidecar;
GRANT INSERT (name, floor), UPDATE (floor, reservation, reserved_until), DELETE ON gate.counter TO gate_sidecar;
GRANT EXECUTE ON FUNCTION gate.lock_lanes TO gate_sidecar;
-- Checkpoints are signed. A node is written again when its checkpoint was removed before.
GRANT INSERT (chain, size, note) ON gate.checkpoint TO gate_sidecar;
GRANT INSERT, UPDATE (hash) ON gate.tree_node TO gate_sidecar;
GRANT INSERT, UPDATE (number, at) ON gate.anchored TO gate_sidecar;
-- What no entry depends on, and what is only kept for a time.
GRANT INSERT, UPDATE (at) ON gate.key_use TO gate_sidecar;
GRANT INSERT, UPDATE (body_digest, entry_id, at), DELETE ON gate.idempotency TO gate_sidecar;
GRANT INSERT, UPDATE (loaded, bytes, source), DELETE ON gate.policy_text TO gate_sidecar;
GRANT INSERT, UPDATE (at, filler) ON gate.trial TO gate_sidecar;

-- Redaction: a section and its salt, the references that follow from it, and approvals that repeat its text.
GRANT UPDATE (salts, actor, data, detail, request, record, record_id, decision, reported_by)
  ON gate.audit_entry TO gate_custodian;
GRANT DELETE ON gate.approval TO gate_custodian;
-- Pruning: the trigger refuses entries that are not below `pruned`.
GRANT UPDATE (pruned) ON gate.chain TO gate_custodian;
GRANT DELETE ON gate.audit_entry, gate.shared_text, gate.checkpoint, gate.tree_node TO gate_custodian;

COMMIT;
