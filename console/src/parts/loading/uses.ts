/** The records of one kind that refer to another record: how many, and the name of one of them. */
interface Use {
  kind: string;
  name: string;
  count: number;
}

/** As the trace backend writes them: "the product …", or "3 of kind product, such as …". */
const USE = /(?:the ([^"]+)|(\d+) of kind ([^"]+), such as) ("(?:[^"\\]|\\.)*")/g;

/** The records that the sentence of a refused deletion names; without the last one if the text is cut off. */
export function usesIn(text: string): Use[] {
  return [...text.matchAll(USE)].map(([, single = '', count = '1', kind = single, name = '""']) => ({
    kind,
    name: JSON.parse(name),
    count: Number(count),
  }));
}
