const WIDTH = 640;
const HEIGHT = 240;
/** Room for the labels: left, right, top, bottom. */
const EDGE = { left: 72, right: 16, top: 28, bottom: 32 };

/**
 * A line chart of rates as a labelled SVG picture: currency, first and last day, lowest and highest value. Everything
 * in it is a date, a code or a number.
 *
 * @param items oldest first, at least one
 */
export function drawRates(code: string, items: readonly { date: string; value: string }[]): string {
  const values = items.map(({ value }) => Number(value));
  const times = items.map(({ date }) => Date.parse(`${date}T00:00:00Z`));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [times[0] as number, times.at(-1) as number];
  const x = (time: number) =>
    EDGE.left + ((time - first) / (last - first || 1)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value: number) =>
    high === low
      ? HEIGHT / 2
      : EDGE.top + ((high - value) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const points = values.map((value, n) => `${x(times[n] as number).toFixed(1)},${y(value).toFixed(1)}`);
  const [from, to] = [items[0]?.date, items.at(-1)?.date];
  const grid = [low, (low + high) / 2, high].map(
    value =>
      `<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>`,
  );
  const labels = [low, high].map(
    value =>
      `<text x="${EDGE.left - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${rounded(value)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="12" fill="#33413a">
<title id="title">1 EUR in ${code}, ${from} to ${to}</title>
<desc id="desc">Lowest ${rounded(low)}, highest ${rounded(high)}, last ${rounded(values.at(-1) as number)}.</desc>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${EDGE.left}" y="16" font-weight="600">1 EUR in ${code}</text>
<g stroke="#dfe6e2">${grid.join('')}</g>
<g>${labels.join('')}</g>
<text x="${EDGE.left}" y="${HEIGHT - 10}">${from}</text>
<text x="${WIDTH - EDGE.right}" y="${HEIGHT - 10}" text-anchor="end">${to}</text>
${points.length === 1 ? `<circle cx="${EDGE.left}" cy="${HEIGHT / 2}" r="3" fill="#1f6f4a"/>` : `<polyline points="${points.join(' ')}" fill="none" stroke="#1f6f4a" stroke-width="1.6" stroke-linejoin="round"/>`}
</svg>
`;
}

/** A value with enough digits to distinguish it from its neighbours. */
function rounded(value: number): string {
  return String(Number(value.toPrecision(6)));
}
