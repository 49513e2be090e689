/**
 * The weight that an Accept header gives a media type, 0 to 1 (RFC 9110 §12.5.1): that of the most specific range which
 * holds it; 0 when none does. Parameters other than q do not count.
 *
 * @param type in lower case; `image/*` stands for any type of that kind
 * @param ranges whether ranges such as *\/* count, or only the type by its name
 * @returns undefined when the header holds no media range at all
 */
export function acceptWeight(
  accept: string,
  type: string,
  ranges: 'any' | 'named' = 'any',
): number | undefined {
  const [kind] = type.split('/');
  let weight: number | undefined;
  let specific = -1;
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase());
    if (!/^[^\s/]+\/[^\s/]+$/.test(range)) continue;
    weight ??= 0;
    const rank = rankOf(range, type, kind as string);
    if (rank <= specific || (ranges === 'named' && rank < 2)) continue;
    specific = rank;
    weight = weightOf(parameters);
  }
  return weight;
}

/** How specific a range is that holds the type; -1 when it does not. */
function rankOf(range: string, type: string, kind: string): number {
  if (range === '*/*') return 0;
  if (range === `${kind}/*`) return 1;
  return range === type || (type === `${kind}/*` && range.startsWith(`${kind}/`)) ? 2 : -1;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find(text => text.startsWith('q='))?.slice(2);
  const weight = q === undefined ? 1 : Number(q);
  return weight >= 0 && weight <= 1 ? weight : 1;
}

/** Whether an Accept header lets one of these media types be sent; one that says nothing lets any. */
export function accepts(accept: string, types: readonly string[]): boolean {
  return types.some(type => acceptWeight(accept, type) !== 0);
}
