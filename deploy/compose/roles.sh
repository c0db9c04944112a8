#!/bin/sh
# Runs roles.sql as the administrator, and gives the sidecars their login and its password.
set -eu
PGPASSWORD=$(cat /run/secrets/admin-password)
export PGPASSWORD PGHOST="${PGHOST:-postgres}" PGUSER=postgres PGDATABASE=gate

psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --file /roles.sql
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\set password `cat /run/secrets/sidecar-password`
SELECT 'CREATE ROLE sidecar LOGIN IN ROLE gate_sidecar'
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sidecar') \gexec
ALTER ROLE sidecar PASSWORD :'password';
SQL
