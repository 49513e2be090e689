import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { type RunningTrace, runningTrace } from '../helpers/trace.ts';
import { JWT_SECRET } from '../helpers/user-registry.ts';
import { checkAll, checkClaims, nothingWrong } from './checks.ts';
import { ABSENT, type Fact, type Kind } from './ledger.ts';
import { type Load, openLoad, writingEndpoints } from './load.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { randomFrom } from './random.ts';

let folder: string;
let remove: () => Promise<void>;
let mailbox: Mailbox;
let packet: RunningService;
let trace: RunningTrace;
let load: Load;
beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  mailbox = await openMailbox();
  const settings = { DATA_DIR: folder, SMTP_URL: mailbox.url, USER_REGISTRY_JWT_SECRET: JWT_SECRET };
  packet = await runningService(settings);
  trace = await runningTrace(settings, packet);
  const targets = (service: string) => [service === 'packet' ? packet.url : trace.url];
  load = openLoad({ targets, database: packet.connection, mailbox }, randomFrom(1));
  await load.rehearse();
});
afterAll(async () => {
  await trace.stop();
  await packet.stop();
  await mailbox.stop();
  await remove();
});

const location = () => ({ database: packet.connection, folder });
const claimed = () => checkClaims(location(), load.ledger.claims('all'));
/** A record of which nothing was changed since it was made. */
const unchanged = (kind: Kind, from = 0): Fact | undefined =>
  load.ledger.claims('all').filter(({ fact }) => fact.kind === kind && fact.states.length === 1)[from]?.fact;

/** A record that is there and was changed. */
const changedOnce = (kind: Kind) =>
  load.ledger
    .claims('all')
    .find(({ fact }) => fact.kind === kind && fact.acknowledged > 0 && !fact.states.includes(ABSENT))
    ?.fact as Fact;
const nameOf = (fact: Fact | undefined) => `${fact?.kind} ${fact?.id}`;
/** The id of the record that a finding is about. */
const nameIn = (finding: string) => /^\S+ [^:]+/.exec(finding)?.[0];

/** Changes the database behind the services' back, as its owner can. */
async function falsify(statement: string, values: unknown[]): Promise<void> {
  expect((await packet.pool.query(statement, values)).rowCount).toBe(1);
}

test('every writing endpoint is used, and everything acknowledged is correct', async () => {
  expect(load.client.take().unexpected).toEqual([]);
  expect([...load.client.endpoints.keys()].sort()).toEqual(writingEndpoints().sort());
  expect(await claimed()).toEqual(nothingWrong());
  expect(await checkAll(location())).toEqual(nothingWrong());
});

test("each record that is lost, doubled or changed behind the services' back is noticed", async () => {
  await packet.pool.query('GRANT UPDATE, DELETE ON packets, packet_log TO CURRENT_USER');
  const [gone, unlogged, twiceLogged, altered, copied] = [0, 1, 2, 3, 4].map(n =>
    unchanged('packet', n),
  ) as Fact[];
  const [noFile, otherFile] = [0, 1].map(n => unchanged('attachment', n)) as Fact[];
  const [image, currency] = [unchanged('file'), changedOnce('currency')];
  const fileOf = (fact: Fact | undefined) => path.join(folder, 'files/attachments', fact?.sha256 as string);

  await falsify('DELETE FROM packets WHERE id = $1', [gone?.id]);
  await falsify('DELETE FROM packet_log WHERE packet_id = $1', [unlogged?.id]);
  const logged = `INSERT INTO packet_log (position, packet_id, kind)
    SELECT (SELECT max(position) + 1 FROM packet_log), packet_id, kind FROM packet_log WHERE packet_id = $1`;
  await falsify(logged, [twiceLogged?.id]);
  await falsify(`UPDATE packets SET body = replace(body, 'mark', 'Mark') WHERE id = $1`, [altered?.id]);
  await falsify(
    `INSERT INTO packets SELECT (jsonb_populate_record(packets, jsonb_build_object('id', gen_random_uuid()))).*
     FROM packets WHERE id = $1`,
    [copied?.id],
  );
  await falsify('DELETE FROM trace_backend.images WHERE storage_key = $1', [image?.id]);
  await falsify('UPDATE trace_backend.currency_types SET enabled = NOT enabled WHERE code = $1', [
    currency?.id,
  ]);
  await rm(fileOf(noFile));
  await writeFile(fileOf(otherFile), 'something else');

  const findings = await claimed();
  expect(findings.lost.map(nameIn).sort()).toEqual([gone, unlogged, noFile, image].map(nameOf).sort());
  expect(findings.doubled.map(nameIn)).toEqual([twiceLogged].map(nameOf));
  expect(findings.changed.map(nameIn).sort()).toEqual([altered, currency, otherFile].map(nameOf).sort());

  const all = await checkAll(location());
  expect(all.doubled).toEqual([`packet ${copied?.states[0]}`]);
  // The position that was taken away is a gap.
  expect(all.lost).toEqual([expect.stringContaining('positions of the log')]);
});

test('an unacknowledged change may exist or not; an acknowledged one must exist', async () => {
  const fact = changedOnce('thread');
  const rename = (name: string) =>
    falsify('UPDATE chat_threads SET name = $2 WHERE thread_id = $1', [fact.id, name]);
  const [name, people] = (fact.states.at(-1) as string).split(': ') as [string, string];
  const isFound = async () =>
    (await checkClaims(location(), [{ fact, from: fact.acknowledged }])).changed.length;
  expect(await isFound()).toBe(0);

  fact.states.push(`another name: ${people}`);
  expect(await isFound()).toBe(0);
  await rename('another name');
  expect(await isFound()).toBe(0);
  load.ledger.acknowledge(fact);
  expect(await isFound()).toBe(0);
  await rename(name);
  expect(await isFound()).toBe(1);
});
