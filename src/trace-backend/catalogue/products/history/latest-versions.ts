/** The versions in which the fields of a record were last changed. */
export interface Versions {
  /** The version of the last change of a field, of something in it, or of what it is in; 0 if there was none. */
  of(path: string): number;
}

/** The versions of changes, looked up by the paths of fields such as origin.locations. */
export function latestVersions(changes: Iterable<{ path: string; version: number }>): Versions {
  const exact = new Map<string, number>();
  const inside = new Map<string, number>();
  for (const { path, version } of changes) {
    later(exact, path, version);
    for (const above of [path, ...pathsAbove(path)]) later(inside, above, version);
  }
  return {
    of: path => Math.max(inside.get(path) ?? 0, ...pathsAbove(path).map(above => exact.get(above) ?? 0)),
  };
}

function later(versions: Map<string, number>, path: string, version: number): void {
  versions.set(path, Math.max(version, versions.get(path) ?? 0));
}

/** The paths of what a field is in: origin and origin.locations of origin.locations.0. */
function pathsAbove(path: string): string[] {
  const names = path.split('.');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'));
}
