-- Divides a database of fieldtrace between two roles (docs/operations.md, "Two roles"): the owner of the tables, which
-- migrates and erases, and the role of the services, which gets the rights that the owner kept for itself and no others.
-- It can be repeated: it changes only what is different.
--
-- Run it in the database of the services as a superuser, or as a role that is a member of both roles and of the present
-- owner. Create the roles before:
--   CREATE ROLE fieldtrace_owner LOGIN PASSWORD '…';
--   CREATE ROLE fieldtrace LOGIN PASSWORD '…';
-- For other names, first SET fieldtrace.owner = '…'; SET fieldtrace.service = '…';
DO $$
DECLARE
  owner     text := coalesce(nullif(current_setting('fieldtrace.owner', true), ''), 'fieldtrace_owner');
  service   text := coalesce(nullif(current_setting('fieldtrace.service', true), ''), 'fieldtrace');
  statement text;
BEGIN
  IF to_regrole(quote_ident(owner)) IS NULL OR to_regrole(quote_ident(service)) IS NULL THEN
    RAISE EXCEPTION 'create the roles % and % first', quote_ident(owner), quote_ident(service);
  END IF;
  IF pg_has_role(service, owner, 'MEMBER') OR (SELECT rolcreaterole FROM pg_roles WHERE rolname = service) THEN
    RAISE EXCEPTION 'the role % must not be %, a member of it, a superuser, or a role with CREATEROLE',
      quote_ident(service), quote_ident(owner);
  END IF;

  -- The owner of a database can drop it, and give sessions another search_path.
  FOR statement IN
    WITH wanted (schema, role) AS (
      VALUES ('packet_service', owner), ('trace_backend', owner),
        -- The program that keeps the job queues migrates them itself.
        ('packet_service_jobs', service), ('trace_backend_jobs', service)
    ), schemas AS (
      SELECT n.oid, nspname, nspowner, to_regrole(quote_ident(role))::oid AS wanted, role
      FROM wanted JOIN pg_namespace AS n ON nspname = schema
    )
    SELECT format('ALTER DATABASE %I OWNER TO %I', datname, owner)
    FROM pg_database WHERE datname = current_database() AND datdba <> to_regrole(quote_ident(owner))::oid
    UNION ALL
    SELECT format('ALTER SCHEMA %I OWNER TO %I', nspname, role) FROM schemas WHERE nspowner <> wanted
    UNION ALL
    -- Indexes, sequences of columns and types of rows follow their tables.
    SELECT format('ALTER TABLE %I.%I OWNER TO %I', nspname, relname, role)
    FROM schemas AS s JOIN pg_class ON relnamespace = s.oid WHERE relkind IN ('r', 'p') AND relowner <> wanted
    UNION ALL
    SELECT format('ALTER TYPE %I.%I OWNER TO %I', nspname, typname, role)
    FROM schemas AS s JOIN pg_type ON typnamespace = s.oid WHERE typtype IN ('e', 'd') AND typowner <> wanted
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, role)
    FROM schemas AS s JOIN pg_proc AS p ON pronamespace = s.oid WHERE proowner <> wanted
  LOOP
    EXECUTE statement;
  END LOOP;

  -- Commands of the owner also work on the job queues, for example fieldtrace move.
  IF NOT pg_has_role(owner, service, 'MEMBER') THEN
    EXECUTE format('GRANT %I TO %I', service, owner);
  END IF;

  FOR statement IN
    -- CREATE is for the schemas of the job queues, TEMPORARY for the check of free space.
    SELECT format('GRANT %s ON DATABASE %I TO %I', privilege, current_database(), service)
    FROM unnest(ARRAY['CONNECT', 'CREATE', 'TEMPORARY']) AS privilege
    WHERE NOT has_database_privilege(service, current_database(), privilege)
    UNION ALL
    -- The owner's statements look for functions there.
    SELECT format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', nspname, service)
    FROM pg_namespace
    WHERE nspname IN ('packet_service', 'trace_backend', 'public') AND has_schema_privilege(service, oid, 'CREATE')
    UNION ALL
    SELECT format('GRANT USAGE ON SCHEMA %I TO %I', nspname, service)
    FROM pg_namespace
    WHERE nspname IN ('packet_service', 'trace_backend') AND NOT has_schema_privilege(service, oid, 'USAGE')
  LOOP
    EXECUTE statement;
  END LOOP;

  FOR statement IN
    WITH relations AS (
      SELECT format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, nspname, relname) AS name,
        CASE
          WHEN relkind = 'S' OR relname IN ('migrations', 'erasures') THEN ARRAY['SELECT']
          ELSE ARRAY(
            SELECT privilege_type FROM aclexplode(coalesce(relacl, acldefault('r', relowner)))
            WHERE grantee = relowner AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') ORDER BY 1)
        END AS rights,
        ARRAY(
          SELECT privilege_type FROM aclexplode(relacl)
          WHERE grantee = to_regrole(quote_ident(service))::oid ORDER BY 1) AS granted
      FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
      WHERE nspname IN ('packet_service', 'trace_backend') AND relkind IN ('r', 'p', 'S')
    )
    SELECT format('REVOKE ALL ON %s FROM %I', name, service) FROM relations WHERE granted <> rights AND granted <> '{}'
    UNION ALL
    SELECT format('GRANT %s ON %s TO %I', array_to_string(rights, ', '), name, service) FROM relations
    WHERE granted <> rights
    UNION ALL
    SELECT format('GRANT EXECUTE ON ROUTINE %s TO %I', p.oid::regprocedure, service)
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace
    WHERE nspname IN ('packet_service', 'trace_backend') AND NOT has_function_privilege(service, p.oid, 'EXECUTE')
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
