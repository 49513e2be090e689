/** The address of a layer's tiles, as MapLibre asks for them. @param filters names and values of the query */
export function tileAddress(
  layer: 'observations' | 'fields',
  filters: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(filters).toString();
  return `session://packet/tiles/${layer}/{z}/{x}/{y}.mvt${query && `?${query}`}`;
}
