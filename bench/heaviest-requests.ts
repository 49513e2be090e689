/** A request, as `fetch` takes it. */
export interface Heavy {
  name: string;
  path: string;
  method?: string;
  type?: string;
  body?: string;
}

const JSON_TYPE = 'application/json';
const MIB = 1024 * 1024;
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** A thousand packets, of 100 KB each, so that a page of them has 100 MB. */
export async function largePackets(port: number): Promise<void> {
  const item = JSON.stringify({ intake: 'scouting', body: { ...observation, message: 'x'.repeat(100_000) } });
  for (let batch = 0; batch < 10; batch++) {
    const response = await fetch(`http://127.0.0.1:${port}/intake/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: Array(100).fill(item).join('\n'),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.text();
  }
}

/** The heaviest single requests to the packet service. */
export function heaviestPacketRequests(): Heavy[] {
  const dense = denseItem();
  const item = (body: object) => JSON.stringify({ intake: 'scouting', body });
  const polygon = { observed_at: observation.observed_at, geojson: star(0) };
  const keys = Object.fromEntries(Array.from({ length: 35_000 }, (_, n) => [(n * 7919).toString(36), 1]));
  const field = (n: number) => ({ type: 'Feature', properties: {}, geometry: star(n) });
  return [
    heavy('PUT /fields, 2 MB of 1e100', '/fields', `[${'1e100,'.repeat(349_000)}1]`, 'PUT'),
    heavy(
      'PUT /fields, 3 boundaries of 5,000 positions',
      '/fields',
      JSON.stringify({ type: 'FeatureCollection', features: Array.from({ length: 3 }, (_, n) => field(n)) }),
      'PUT',
    ),
    heavy('an observation of 5,000 positions', '/intake/scouting', JSON.stringify(polygon)),
    heavy('an observation of 35,000 keys', '/intake/scouting', JSON.stringify({ ...observation, keys })),
    heavy('a batch of 16 MB of small values', '/intake/batch', `[${Array(31).fill(dense).join(',')}]`),
    heavy('a batch of 80 × 5,000 positions', '/intake/batch', `[${Array(80).fill(item(polygon)).join(',')}]`),
    heavy('a batch of 16 MB in escaped quotes', '/intake/batch', `["${'\\"'.repeat(8 * MIB - 100)}"]`),
    { name: 'a page of 100 MB', path: '/packets?limit=1000', method: 'GET' },
    { name: 'an export of all of it', path: '/graph/materialize' },
  ];
}

/** The heaviest single requests to the trace backend. */
export function heaviestTraceRequests(): Heavy[] {
  const process = (more: string) => `{"name":"x","process":{"more":${more}}}`;
  const companies = Array.from({ length: 9_900 }, () => ({ company: {}, type: 'NONE' }));
  return [
    heavy('a product of 1 MB of small values', '/api/product/create', process(`[${'1,'.repeat(250_000)}1]`)),
    heavy(
      'a product of 1 MB of keys',
      '/api/product/create',
      process(
        JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [n.toString(36), 1]))),
      ),
    ),
    heavy(
      'a product of 9,900 wrong companies',
      '/api/product/create',
      JSON.stringify({ name: 'x', associatedCompanies: companies }),
    ),
  ];
}

function heavy(name: string, path: string, body: string, method = 'POST'): Heavy {
  return { name, path, body, method, type: JSON_TYPE };
}

/** An item of a batch, of as many small objects as one may have. */
export function denseItem(): string {
  const objects = Array.from({ length: 19_900 }, (_, n) => `{"k${n}":1,"b":2}`).join(',');
  return `{"intake":"scouting","body":{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":1,"lon":2},"x":[${objects}]}}`;
}

/** A boundary of as many positions as one may have, with a spike at every other one. */
function star(n: number) {
  const ring = Array.from({ length: 4999 }, (_, corner) => {
    const angle = (2 * Math.PI * corner) / 4999;
    const radius = corner % 2 === 0 ? 0.001 : 0.0009;
    return [10 + n / 100 + radius * Math.cos(angle), 10 + radius * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}
