-- Separates tenants by row, for sidecars that serve one tenant each.
--
-- Name every login first, with the tenant that it serves, or an empty text for all:
--
--   INSERT INTO gate.login (name, tenant) VALUES ('sidecar', ''), ('custodian', ''), ('auditor', '');
--   CREATE ROLE acme_sidecar LOGIN IN ROLE gate_sidecar;
--   INSERT INTO gate.login (name, tenant) VALUES ('acme_sidecar', 'acme');
--
-- Then run this as an administrator, after deploy/roles.sql, and again after each migration:
--
--   psql --set ON_ERROR_STOP=1 --file deploy/tenants.sql postgres://admin@db.internal/gate
--
-- A login that gate.login lacks reads no row that is separated, and its sidecar does not start. A role that a login
-- takes by SET ROLE changes nothing: the login counts. The owner of the tables is not separated, nor is a superuser.
--
-- A login of one tenant reads the rows of that tenant, and those of the service itself: `_system` names other tenants,
-- their chains and the sizes of these, and has admin keys as hashes. It writes the rows of its tenant alone, so its
-- sidecar has the seal key and does not sign.
BEGIN;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM gate.login) THEN
    RAISE EXCEPTION 'gate.login names no login: every sidecar would lose its rows';
  END IF;
END $$;

-- What an earlier version of this file made ends here.
DO $$
DECLARE
  old record;
BEGIN
  FOR old IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'gate' LOOP
    EXECUTE format('DROP POLICY %I ON gate.%I', old.policyname, old.tablename);
  END LOOP;
END $$;

DO $$
DECLARE
  separated text;
BEGIN
  FOREACH separated IN ARRAY ARRAY['login', 'chain', 'audit_entry', 'shared_text', 'approval', 'tenant', 'api_key',
    'signing_key', 'policy', 'kill_switch', 'checkpoint', 'tree_node', 'anchored', 'counter', 'key_use', 'idempotency',
    'policy_text', 'sidecar'] LOOP
    EXECUTE format('ALTER TABLE gate.%I ENABLE ROW LEVEL SECURITY', separated);
  END LOOP;
END $$;

-- Statistics of a column are of all rows, and EXPLAIN tells of them: none are kept of texts.
DO $$
DECLARE
  kept record;
BEGIN
  FOR kept IN
    SELECT c.oid, c.relname, a.attname, a.attnum FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
      WHERE c.relnamespace = 'gate'::regnamespace AND c.relrowsecurity AND c.relkind = 'r'
        AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'jsonb'::regtype)
  LOOP
    EXECUTE format('ALTER TABLE gate.%I ALTER COLUMN %I SET STATISTICS 0', kept.relname, kept.attname);
    IF current_setting('server_version_num')::integer >= 180000 THEN
      PERFORM pg_clear_attribute_stats('gate', kept.relname, kept.attname, false);
    ELSE
      -- A superuser may.
      DELETE FROM pg_statistic WHERE starelid = kept.oid AND staattnum = kept.attnum;
    END IF;
  END LOOP;
END $$;

-- Each login sees itself. Its tenant is asked for once a statement: `(SELECT gate.own_tenant())`.
CREATE POLICY self ON gate.login USING (name = session_user::text);

CREATE POLICY read ON gate.chain FOR SELECT USING (gate.reads((SELECT gate.own_tenant()), tenant));
CREATE POLICY write ON gate.chain USING (gate.writes((SELECT gate.own_tenant()), tenant));

-- Entries and shared texts have the number of their chain in their own.
CREATE POLICY read ON gate.audit_entry FOR SELECT
  USING ((SELECT gate.own_tenant()) = '' OR (at >> 33)::integer IN (SELECT number FROM gate.chain));
CREATE POLICY write ON gate.audit_entry
  USING (
    (SELECT gate.own_tenant()) = ''
    OR (at >> 33)::integer IN (SELECT number FROM gate.chain WHERE tenant = (SELECT gate.own_tenant())));
CREATE POLICY read ON gate.shared_text FOR SELECT
  USING ((SELECT gate.own_tenant()) = '' OR (number >> 35)::integer IN (SELECT number FROM gate.chain));
CREATE POLICY write ON gate.shared_text
  USING (
    (SELECT gate.own_tenant()) = ''
    OR (number >> 35)::integer IN (SELECT c.number FROM gate.chain AS c WHERE tenant = (SELECT gate.own_tenant())));

-- Records. Those of the service itself are read. What a row says of its tenant, its body must say.
CREATE POLICY write ON gate.approval USING (gate.writes((SELECT gate.own_tenant()), gate.tenant_of(chain)))
  WITH CHECK (
    (SELECT gate.own_tenant()) = ''
    OR (SELECT gate.own_tenant()) = gate.tenant_of(chain) AND body::json ->> 'chain' = chain);
CREATE POLICY write ON gate.policy USING (gate.writes((SELECT gate.own_tenant()), id));
CREATE POLICY write ON gate.policy_text USING (gate.writes((SELECT gate.own_tenant()), tenant));
CREATE POLICY read ON gate.tenant FOR SELECT USING (gate.writes((SELECT gate.own_tenant()), id));
CREATE POLICY write ON gate.tenant USING ((SELECT gate.own_tenant()) = '');
CREATE POLICY read ON gate.api_key FOR SELECT USING (gate.reads((SELECT gate.own_tenant()), tenant));
CREATE POLICY write ON gate.api_key USING (gate.writes((SELECT gate.own_tenant()), tenant))
  WITH CHECK (
    (SELECT gate.own_tenant()) = ''
    OR (SELECT gate.own_tenant()) = tenant AND body::json ->> 'tenantId' = tenant
      AND NOT (body::json -> 'roles')::jsonb ? 'admin');
CREATE POLICY read ON gate.kill_switch FOR SELECT USING (gate.reads((SELECT gate.own_tenant()), tenant));
CREATE POLICY write ON gate.kill_switch USING (gate.writes((SELECT gate.own_tenant()), tenant))
  WITH CHECK (
    (SELECT gate.own_tenant()) = ''
    OR (SELECT gate.own_tenant()) = tenant AND gate.tenant_of(body::json ->> 'target') = tenant);
CREATE POLICY read ON gate.signing_key FOR SELECT USING ((SELECT gate.own_tenant()) IS NOT NULL);
CREATE POLICY write ON gate.signing_key USING ((SELECT gate.own_tenant()) = '');

-- Checkpoints, which those sign that serve all.
CREATE POLICY read ON gate.checkpoint FOR SELECT
  USING (gate.reads((SELECT gate.own_tenant()), gate.tenant_of(chain)));
CREATE POLICY write ON gate.checkpoint USING ((SELECT gate.own_tenant()) = '');
CREATE POLICY read ON gate.tree_node FOR SELECT
  USING (gate.reads((SELECT gate.own_tenant()), gate.tenant_of(chain)));
CREATE POLICY write ON gate.tree_node USING ((SELECT gate.own_tenant()) = '');
CREATE POLICY write ON gate.anchored USING ((SELECT gate.own_tenant()) = '');

-- Counters are named by their trail, uses of an Idempotency-Key by the chain of the caller, those of keys by the key.
CREATE POLICY write ON gate.counter
  USING ((SELECT gate.own_tenant()) = '' OR starts_with(name, '["' || (SELECT gate.own_tenant()) || '/'));
CREATE POLICY write ON gate.idempotency
  USING (gate.writes((SELECT gate.own_tenant()), gate.tenant_of(split_part(route, ' ', -1))));
CREATE POLICY read ON gate.key_use FOR SELECT
  USING ((SELECT gate.own_tenant()) = '' OR key_id IN (SELECT id FROM gate.api_key));
CREATE POLICY write ON gate.key_use
  USING (
    (SELECT gate.own_tenant()) = ''
    OR key_id IN (SELECT id FROM gate.api_key AS k WHERE k.tenant = (SELECT gate.own_tenant())));

-- Lanes have one numbering. A sidecar takes the lane of one that served the same, for a time.
CREATE POLICY read ON gate.sidecar FOR SELECT USING ((SELECT gate.own_tenant()) IS NOT NULL);
CREATE POLICY write ON gate.sidecar USING (gate.writes((SELECT gate.own_tenant()), tenant))
  WITH CHECK (
    (SELECT gate.own_tenant()) = ''
    OR (SELECT gate.own_tenant()) = tenant AND NOT signs
      AND expires_at < clock_timestamp() + interval '1 minute');

COMMIT;
