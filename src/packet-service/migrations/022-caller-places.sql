-- Places of a caller that are in use (uploads, exports, feeds, waiting requests), over all processes: who holds one, and
-- until when a process that serves says that it is there. A crash of the server empties them, and each process enters
-- its places again. They are read only on the primary.
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
