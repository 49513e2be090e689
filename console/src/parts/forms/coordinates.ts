const NUMBER = String.raw`([-+−]?\d{1,3}(?:[.,]\d+)?)°?`;
/** A comma alone may be a decimal mark: it separates only before a space, or between numbers with points. */
const PAIRS = [
  new RegExp(`^${NUMBER}(?:\\s*[;\\t]\\s*|,?\\s+)${NUMBER}$`),
  /^([-+−]?\d{1,3}\.\d+),([-+−]?\d{1,3}\.\d+)$/,
];

/**
 * Latitude and longitude as lists and maps have them, such as -1.95, 30.06 or -1,95; 30,06.
 *
 * @returns both as the services have numbers; undefined if the text is no such pair
 */
export function readPair(text: string): [lat: string, lon: string] | undefined {
  for (const pattern of PAIRS) {
    const [, lat, lon] = pattern.exec(text.trim()) ?? [];
    if (lat !== undefined && lon !== undefined) return [plain(lat), plain(lon)];
  }
  return undefined;
}

function plain(number: string): string {
  return number.replace(',', '.').replace('−', '-').replace('+', '');
}
