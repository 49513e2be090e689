import type { RequestMaker } from '../load.ts';

/** Observations at points spread over a country-sized area, each with a message of a few dozen characters. */
export default function scoutingRequests(): RequestMaker {
  return n => post('/intake/scouting', observationBody(n));
}

/** The nth observation, as JSON. */
export function observationBody(n: number): string {
  return JSON.stringify({
    observed_at: new Date(1_767_225_600_000 + n * 1000).toISOString(),
    capture_point: {
      lat: -1.2 + ((n * 7919) % 100_000) / 100_000,
      lon: 29.1 + ((n * 104_729) % 100_000) / 100_000,
    },
    message: `Coffee rust on the lower leaves, plot ${n}`,
    crop: 'coffee',
    severity: n % 5,
  });
}

/** One POST of a JSON body as the bytes on the wire. */
export function post(path: string, body: string, headers = ''): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}
