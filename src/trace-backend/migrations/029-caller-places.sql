-- Places of a caller that are in use (uploads, exports of a user's data), over all processes: who holds one, and until
-- when a process that serves says that it is there. A crash of the server empties them, and each process enters its
-- places again.
CREATE UNLOGGED TABLE serving_processes (
  id    uuid PRIMARY KEY,
  until timestamptz NOT NULL
);

CREATE UNLOGGED TABLE caller_places (
  kind    text NOT NULL,
  caller  text NOT NULL,
  slot    integer NOT NULL,
  process uuid NOT NULL,
  PRIMARY KEY (kind, caller, slot)
);

-- Requests of an address to a route with a limit of its own, until the end of their time. After a crash of the server
-- they count from zero; failed logins of an account are counted in login_failures, which is logged.
CREATE UNLOGGED TABLE address_counts (
  route   text NOT NULL,
  address text NOT NULL,
  count   integer NOT NULL,
  until   timestamptz NOT NULL,
  PRIMARY KEY (route, address)
);
CREATE INDEX address_counts_by_end ON address_counts (until);
