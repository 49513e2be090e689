/** The triples of the graph about a packet. */
export interface Neighbours {
  geoids: string[];
  previous: string | undefined;
  thread: string | undefined;
  sender: string | undefined;
}

interface Triple {
  subject: string;
  predicate: string;
  object: string;
}

/** Reads the triples of one packet: NDJSON, as POST /graph/materialize sends it. */
export function readNeighbours(text: string): Neighbours {
  const triples = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Triple);
  const all = (name: string) =>
    triples.filter(({ predicate }) => predicate === `packet:${name}`).map(({ object }) => object);
  return {
    geoids: [...new Set(all('geoid'))],
    previous: all('prev')[0],
    thread: all('thread')[0],
    sender: all('sender')[0],
  };
}
