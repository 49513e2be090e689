-- Creates the two roles of docs/operations.md, "Two roles", with the passwords of the environment. Run it with psql
-- before src/platform/database/roles/two-roles.sql.
\getenv owner_password OWNER_PASSWORD
\getenv services_password SERVICES_PASSWORD
CREATE ROLE fieldtrace_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE fieldtrace LOGIN PASSWORD :'services_password';
