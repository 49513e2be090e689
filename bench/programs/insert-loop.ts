import pg from 'pg';
import { makePacket } from '../../src/packet-service/core/packet-format/packet.ts';
import { newUlid } from '../../src/packet-service/core/packet-format/ulid.ts';
import { parseTimestamp, type Timestamp } from '../../src/platform/time.ts';

const CONNECTIONS = 32;
const GEOID = '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33';

// The cost of the same rows with one transaction each: a prepared one-row INSERT in a loop on 32 connections, as
// pgbench would do it, without HTTP, JSON or hashing (the packet is made once).
const seconds = Number(process.env.SECONDS);
const timestamp = parseTimestamp('2026-03-01T08:15:00Z') as Timestamp;
const body = {
  attachments: [],
  capture_point: { lat: -1.5, lon: 29.5 },
  crop: 'coffee',
  message: 'Coffee rust on the lower leaves, plot 1',
  severity: 1,
};
const point = { lat: -1.5, lon: 29.5 };
const {
  header,
  body: text,
  footer,
} = makePacket({
  id: newUlid(),
  geoid: GEOID,
  additionalGeoids: [],
  timestamp,
  type: 'note',
  body,
  lang: 'und',
  point,
});
const insert = `INSERT INTO packets (id, geoid, ts, type, thread_id, lat, lon, cell, header, body, footer)
  VALUES (gen_random_uuid(), $1, $2, 'note', NULL, $3, $4, $5, $6, $7, $8)`;

let count = 0;
const end = performance.now() + seconds * 1000;
async function loop(): Promise<void> {
  const client = new pg.Client({
    connectionString: process.env.DATABASE_URL,
    options: '-c search_path=packet_service',
  });
  await client.connect();
  while (performance.now() < end) {
    const n = count++;
    const values = [
      GEOID,
      new Date(1_767_225_600_000 + n * 1000),
      point.lat,
      point.lon,
      n,
      header,
      text,
      footer,
    ];
    await client.query({ name: 'insert', text: insert, values });
  }
  await client.end();
}
await Promise.all(Array.from({ length: CONNECTIONS }, loop));
console.log(count / seconds);
