/** The versions in which the fields of a record were last changed. */
export interface Versions {
  /** The version of the last change of a field, its inner fields, or its parents; 0 if there was none. */
  of(path: string): number;
}

/** Indexes changes by the paths of fields, such as origin.locations. */
export function latestVersions(changes: Iterable<{ path: string; version: number }>): Versions {
  const exact = new Map<string, number>();
  const within = new Map<string, number>();
  for (const { path, version } of changes) {
    raise(exact, path, version);
    for (const parent of [path, ...parentPaths(path)]) raise(within, parent, version);
  }
  return {
    of: path => Math.max(within.get(path) ?? 0, ...parentPaths(path).map(parent => exact.get(parent) ?? 0)),
  };
}

function raise(versions: Map<string, number>, path: string, version: number): void {
  versions.set(path, Math.max(version, versions.get(path) ?? 0));
}

/** The paths of a field's parents: origin and origin.locations for origin.locations.0. */
function parentPaths(path: string): string[] {
  const names = path.split('.');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'));
}
