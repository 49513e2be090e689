/** Round values from nothing to at least the greatest one, at most five steps of them. */
export function roundMarks(greatest: number): number[] {
  if (!(greatest > 0)) return [0, 1];
  const rough = greatest / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find(times => times * size >= rough * (1 - 1e-9)) ?? 10) * size;
  const count = Math.ceil(greatest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(12)));
}

/** A path through values, from the left to the right of a box; the greatest value of its scale is at the top. */
export function linePath(values: readonly number[], width: number, height: number, greatest: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map(
    (value, n) => `${round(n * step)},${round(height - (value / (greatest || 1)) * height)}`,
  );
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

/** A part of a bar. */
export interface Bar {
  series: number;
  /** index of the bar */
  at: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Bars with the values of several series on top of each other. */
export function stackedBars(
  series: readonly (readonly number[])[],
  width: number,
  height: number,
  greatest: number,
): Bar[] {
  const count = series[0]?.length ?? 0;
  const place = width / Math.max(1, count);
  return Array.from({ length: count }, (_, at) => {
    let top = height;
    return series.map((values, index) => {
      const size = ((values[at] ?? 0) / (greatest || 1)) * height;
      top -= size;
      return {
        ...{ series: index, at, x: round((at + 0.2) * place), width: round(0.6 * place) },
        ...{ y: round(top), height: round(size) },
      };
    });
  }).flat();
}

/** A flow: things in columns from left to right, and amounts between them. */
export interface FlowInput {
  nodes: { id: string; column: number; name: string; note?: string }[];
  links: { from: string; to: string; amount: number }[];
}

export interface FlowNode {
  id: string;
  name: string;
  note: string;
  x: number;
  y: number;
  height: number;
  amount: number;
}

export interface FlowBand {
  from: string;
  to: string;
  amount: number;
  path: string;
}

const BAR = 9;
const GAP = 18;

/** Places nodes and bands of a flow in a box: heights are amounts, bands leave and arrive in the order of the nodes. */
export function flowOf(
  { nodes, links }: FlowInput,
  width: number,
  height: number,
): { nodes: FlowNode[]; bands: FlowBand[] } {
  const sum = (list: FlowInput['links']) => list.reduce((total, { amount }) => total + amount, 0);
  const amountOf = (id: string) =>
    Math.max(sum(links.filter(({ from }) => from === id)), sum(links.filter(({ to }) => to === id)));
  const columns = Math.max(0, ...nodes.map(({ column }) => column)) + 1;
  const inColumn = (column: number) => nodes.filter(node => node.column === column);
  const scale = Math.min(
    ...Array.from({ length: columns }, (_, column) => {
      const own = inColumn(column);
      return (
        (height - GAP * (own.length - 1)) /
        Math.max(
          1,
          own.reduce((all, { id }) => all + amountOf(id), 0),
        )
      );
    }),
  );
  const placed = Array.from({ length: columns }, (_, column) => {
    let y = 0;
    return inColumn(column).map(({ id, name, note = '' }): FlowNode => {
      const amount = amountOf(id);
      const node = {
        id,
        name,
        note,
        amount,
        x: column * ((width - BAR) / Math.max(1, columns - 0.35)),
        y,
        height: amount * scale,
      };
      y += node.height + GAP;
      return node;
    });
  }).flat();
  const byId = new Map(placed.map(node => [node.id, node]));
  const left = new Map(placed.map(({ id, y }) => [id, y]));
  const arrived = new Map(placed.map(({ id, y }) => [id, y]));
  const bands = links.flatMap(({ from, to, amount }) => {
    const [source, target] = [byId.get(from), byId.get(to)];
    if (!source || !target) return [];
    const size = amount * scale;
    const [y0, y1] = [left.get(from) ?? 0, arrived.get(to) ?? 0];
    left.set(from, y0 + size);
    arrived.set(to, y1 + size);
    const [x0, x1] = [round(source.x + BAR), round(target.x)];
    const middle = round((x0 + x1) / 2);
    const [a, b, c, d] = [y0, y1, y1 + size, y0 + size].map(round);
    return [
      {
        from,
        to,
        amount,
        path: `M${x0},${a}C${middle},${a} ${middle},${b} ${x1},${b}V${c}C${middle},${c} ${middle},${d} ${x0},${d}Z`,
      },
    ];
  });
  return { nodes: placed, bands };
}

/** The links that lead to a node and away from it, up to both ends. */
export function streamOf(links: FlowInput['links'], id: string): Set<string> {
  const found = new Set([id]);
  for (const [near, far] of [
    ['from', 'to'],
    ['to', 'from'],
  ] as const) {
    const open = [id];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const link of links)
        if (link[near] === next && !found.has(link[far])) {
          found.add(link[far]);
          open.push(link[far]);
        }
  }
  return found;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
