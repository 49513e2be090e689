/** Numbers in an order that its user decides by where each is put: a treap with links to the neighbours. */
export interface EdgeOrder {
  /** Puts a number directly behind another that is there; -1 puts it first. */
  insertAfter(other: number, edge: number): void;
  remove(edge: number): void;
  /** The next one in the order, or -1; of -1 the first. */
  next(edge: number): number;
  /** The one before, or -1; of -1 the last. */
  previous(edge: number): number;
  /**
   * The last number that is below something, or -1, found by a descent of logarithmic length.
   *
   * @param isBelow true for a beginning of the order, false for the rest
   */
  lastBelow(isBelow: (edge: number) => boolean): number;
}

/**
 * An empty order of the numbers from 0 to `count` - 1. Insertion and removal take logarithmic time whatever the input:
 * the priorities are random, so no input can be made to fit them (Seidel and Aragon, "Randomized Search Trees", 1996).
 */
export function edgeOrder(count: number): EdgeOrder {
  const left = new Int32Array(count).fill(-1);
  const right = new Int32Array(count).fill(-1);
  const parent = new Int32Array(count).fill(-1);
  const priority = Float64Array.from({ length: count }, Math.random);
  const links = neighbours(count);
  let root = -1;

  /** Puts a node, or nothing, where another one was. */
  function replace(old: number, by: number): void {
    const above = parent[old] as number;
    if (above === -1) root = by;
    else if (left[above] === old) left[above] = by;
    else right[above] = by;
    if (by !== -1) parent[by] = above;
  }

  /** Moves a node above its parent. */
  function rotateUp(node: number): void {
    const above = parent[node] as number;
    const [near, far] = left[above] === node ? [left, right] : [right, left];
    const inner = far[node] as number;
    replace(above, node);
    near[above] = inner;
    if (inner !== -1) parent[inner] = above;
    far[node] = above;
    parent[above] = node;
  }

  const outranksParent = (node: number) =>
    parent[node] !== -1 && (priority[node] as number) > (priority[parent[node] as number] as number);

  return {
    insertAfter(other, edge) {
      const next = links.insertAfter(other, edge);
      if (root === -1) {
        root = edge;
        return;
      }
      // One of two neighbours has a free child on the side of the other.
      if (other !== -1 && right[other] === -1) {
        right[other] = edge;
        parent[edge] = other;
      } else {
        left[next] = edge;
        parent[edge] = next;
      }
      while (outranksParent(edge)) rotateUp(edge);
    },
    remove(edge) {
      links.remove(edge);
      for (;;) {
        const [l, r] = [left[edge] as number, right[edge] as number];
        if (l === -1 || r === -1) {
          replace(edge, l === -1 ? r : l);
          break;
        }
        rotateUp((priority[l] as number) > (priority[r] as number) ? l : r);
      }
      left[edge] = -1;
      right[edge] = -1;
      parent[edge] = -1;
    },
    next: links.next,
    previous: links.previous,
    lastBelow: isBelow => lastBelow(root, { left, right }, isBelow),
  };
}

/**
 * The links of each number to its neighbours. They form a circle through the additional number `count`, which is before
 * the first and after the last.
 */
function neighbours(count: number) {
  const after = new Int32Array(count + 1).fill(count);
  const before = new Int32Array(count + 1).fill(count);
  return {
    /** Returns what follows the inserted number; `count` when nothing does. */
    insertAfter(other: number, edge: number): number {
      const prev = other === -1 ? count : other;
      const next = after[prev] as number;
      after[prev] = edge;
      before[edge] = prev;
      after[edge] = next;
      before[next] = edge;
      return next;
    },
    remove(edge: number): void {
      after[before[edge] as number] = after[edge] as number;
      before[after[edge] as number] = before[edge] as number;
    },
    next(edge: number): number {
      const following = after[edge === -1 ? count : edge] as number;
      return following === count ? -1 : following;
    },
    previous(edge: number): number {
      const preceding = before[edge === -1 ? count : edge] as number;
      return preceding === count ? -1 : preceding;
    },
  };
}

function lastBelow(
  root: number,
  { left, right }: { left: Int32Array; right: Int32Array },
  isBelow: (edge: number) => boolean,
): number {
  let last = -1;
  for (let node = root; node !== -1; ) {
    if (isBelow(node)) {
      last = node;
      node = right[node] as number;
    } else {
      node = left[node] as number;
    }
  }
  return last;
}
