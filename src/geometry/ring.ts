/** One ring of a boundary: closed, [lon, lat, …] in degrees, the ground to its left, no position repeated at once. */
export interface Ring {
  part: number;
  hole: boolean;
  path: string;
  line: number[];
}

/** The edges of rings, [x, y, x, y] of their ends one after another, backwards where that is asked for. */
export function edgesOf(rings: readonly Ring[], backwards = false): Float64Array {
  const edges = new Float64Array(rings.reduce((sum, { line }) => sum + 2 * (line.length - 2), 0));
  let at = 0;
  for (const { line } of rings) {
    for (let k = 0; k + 3 < line.length; k += 2) {
      const [a, b] = backwards ? [k + 2, k] : [k, k + 2];
      edges[at] = line[a] as number;
      edges[at + 1] = line[a + 1] as number;
      edges[at + 2] = line[b] as number;
      edges[at + 3] = line[b + 1] as number;
      at += 4;
    }
  }
  return edges;
}
