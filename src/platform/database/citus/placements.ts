/** Where the rows of a table are when the database is distributed over several servers (Citus). */
export type Placement =
  /** in shards, by the hash of a column that every unique index of the table contains */
  | {
      kind: 'distributed';
      by: string;
      /** the table whose shards have the rows with the same value of that column; its own where it is not given */
      with?: string;
    }
  /** complete on every server */
  | { kind: 'reference' }
  /** complete on the coordinator, and nowhere else */
  | {
      kind: 'local';
      /** whether transactions that write to it also write to shards, and nothing else tells that both must commit */
      withShards?: true;
    };

/** The placement of each table of a schema by its name. */
export type Placements = Readonly<Record<string, Placement>>;

/** A table with rows in shards. */
export interface DistributedTable {
  name: string;
  by: string;
  with: string | undefined;
}

/** The tables of the coordinator that are written together with shards. */
export function tablesWithShards(placements: Placements): string[] {
  return Object.entries(placements).flatMap(([name, placement]) =>
    placement.kind === 'local' && placement.withShards ? [name] : [],
  );
}

/** The tables with rows in shards, each after the one that it is co-located with. */
export function distributedTables(placements: Placements): DistributedTable[] {
  const tables = Object.entries(placements).flatMap(([name, placement]) =>
    placement.kind === 'distributed' ? [{ name, by: placement.by, with: placement.with }] : [],
  );
  return [...tables.filter(table => !table.with), ...tables.filter(table => table.with)];
}
