import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backedUp, commandSeconds } from './backups.ts';
import type { Context, Row } from './context.ts';

const PACKETS = 1_000_000;
const BATCH = 500;
const CLIENTS = 4;

/** Base backup, restore and verification of a million packets that the service took in. */
export async function restoreRows(context: Context): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-bench-'));
  const [dataDir, restored] = [path.join(folder, 'data'), path.join(folder, 'restored')];
  const target = path.join(folder, 'target');
  await mkdir(target);
  const environment = {
    DATA_DIR: dataDir,
    BACKUP_URL: `file://${target}`,
    BACKUP_KEY: 'a passphrase for benchmarks',
    BACKUP_MAX_MIB_PER_SECOND: '2000',
  };
  const service = await context.startService({ DATABASE_URL: '', ...environment });
  await backedUp(service);
  await takeIn(service.port);
  await service.stop();
  const backup = await commandSeconds(['backup', 'now'], environment);
  const restore = await commandSeconds(['restore', '--into', restored], environment);
  const verify = await commandSeconds(['verify'], { DATA_DIR: restored });
  await rm(folder, { recursive: true, force: true });
  const of = `of ${PACKETS.toLocaleString('en')} packets`;
  return [
    { name: `base backup ${of}, not throttled`, value: backup, unit: 's' },
    { name: `restore ${of}, with verification`, value: restore, unit: 's' },
    { name: `verification ${of}`, value: verify, unit: 's' },
  ];
}

async function takeIn(port: number): Promise<void> {
  let begun = 0;
  const client = async () => {
    while (begun < PACKETS) {
      const from = begun;
      begun += BATCH;
      const answer = await fetch(`http://127.0.0.1:${port}/intake/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Array.from({ length: BATCH }, (_, index) => observation(from + index))),
      });
      const items = (await answer.json()) as { status?: number }[];
      if (!answer.ok) throw new Error(`${answer.status}: ${JSON.stringify(items)}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  // The log is numbered after the answer.
  await sleep(2000);
}

function observation(index: number) {
  return {
    intake: 'scouting',
    body: {
      observed_at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
      capture_point: { lat: 1 + (index % 1000) / 1000, lon: 2 + (index % 777) / 777 },
      message: `Leaf rust on ${index} plants in the lower field`,
    },
  };
}
