import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedFiles } from '../../../../test/helpers/attachments.ts';
import { downloadFile, picture, uploadFile } from '../../../../test/helpers/images.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { type FileStore, openFileStore } from '../../../platform/files/index.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Entity, RecordKinds } from '../../base/records/kinds.ts';
import { recordKinds } from '../../record-kinds.ts';
import {
  type ImageReference,
  mayReadImage,
  type ReferencingRecord,
  setReferences,
} from './references-store.ts';
import { announceImage, findImages, type Image } from './store.ts';
import { sweep } from './sweep.ts';

const DAY_MS = 24 * 3600_000;

let trace: RunningTrace;
let files: FileStore;
let owner: LoggedIn;
let stranger: LoggedIn;
let png: Buffer;
beforeAll(async () => {
  trace = await runningTrace();
  files = openFileStore(readSettings({ DATA_DIR: trace.folder }));
  [owner, stranger] = await Promise.all([trace.loggedIn(), trace.loggedIn()]);
  png = await picture(9, 9).png().toBuffer();
});
afterAll(() => trace.stop());

const upload = async (kind: 'image' | 'document' = 'image'): Promise<string> =>
  (await uploadFile(trace, owner, kind, png)).body.data.storageKey;
const status = async (key: string, kind: 'image' | 'document' = 'image') =>
  (await downloadFile(trace, owner, `${kind}/${key}`)).status;
const asCaller = ({ id }: LoggedIn) => ({ id, role: 'USER' as const, sessionId: '', secondFactor: false });
/** Kinds of records with owners and readers that a test sets. */
function kindsWith(holds: (entity: Entity, ids: readonly number[], caller: Caller) => boolean): RecordKinds {
  const each = Object.entries(recordKinds).map(([entity, kind]) => {
    const right = async (_database: Database, caller: Caller, ids: readonly number[]) =>
      holds(entity as Entity, ids, caller);
    return [entity, { ...kind, mayRead: right, isOwn: right }];
  });
  return Object.fromEntries(each);
}
const nothing = kindsWith(() => false);
const company = (entityId: number): ReferencingRecord => ({ entity: 'company', entityId });

/** Sets the images of a record, like the record's own transaction; fields are named by their index. */
function carry(
  who: LoggedIn,
  record: ReferencingRecord,
  keys: string[],
  records = nothing,
): Promise<Map<string, Image>> {
  const images: ImageReference[] = keys.map((storageKey, n) => ({
    field: `pictures.${n}.storageKey`,
    storageKey,
  }));
  const writer = { caller: asCaller(who), records };
  return transaction(trace.pool, database => setReferences(database, writer, record, images));
}

async function refusedFields(work: Promise<unknown>): Promise<Record<string, string>> {
  const problem = await work.then(
    () => undefined,
    error => error,
  );
  expect(problem).toBeInstanceOf(Problem);
  expect(problem.code).toBe('invalid');
  return problem.fields;
}

test('only its uploader and a SYSTEM_ADMIN can read an upload; everyone else gets 404', async () => {
  const admins = [await trace.loggedIn('REGIONAL_ADMIN'), await trace.loggedIn('SYSTEM_ADMIN')] as const;
  for (const kind of ['image', 'document'] as const) {
    const key = await upload(kind);
    const read = async (who: LoggedIn, name = key) => downloadFile(trace, who, `${kind}/${name}`);
    expect((await read(owner)).status).toBe(200);
    expect((await read(owner, key.toUpperCase())).status).toBe(200);
    expect((await read(admins[1])).status).toBe(200);
    const foreign = await read(stranger);
    for (const other of [
      await read(admins[0]),
      await read(stranger, randomUUID()),
      await read(stranger, 'x'),
    ]) {
      expect([other.status, String(other.bytes)]).toEqual([404, String(foreign.bytes)]);
    }
    const tag = (await read(owner)).headers.get('etag') as string;
    expect((await downloadFile(trace, stranger, `${kind}/${key}`, { 'if-none-match': tag })).status).toBe(
      404,
    );
    expect((await downloadFile(trace, { cookie: '' }, `${kind}/${key}`)).status).toBe(401);
  }
});

test('everyone who may see a record can read its images', async () => {
  const key = await upload();
  await carry(owner, company(1), [key]);
  await carry(owner, { entity: 'product', entityId: 2 }, [key]);
  const [image] = await findImages(trace.pool, [key]);
  const questions: [string, readonly number[]][] = [];
  const seeing = (visible: string) =>
    kindsWith((entity, ids, caller) => {
      expect(caller.id).toBe(stranger.id);
      questions.push([entity, ids]);
      return entity === visible;
    });
  const may = (records: RecordKinds) =>
    mayReadImage(trace.pool, { caller: asCaller(stranger), records }, image as Image);
  expect([await may(seeing('product')), await may(seeing('nothing'))]).toEqual([true, false]);
  expect(questions.slice(0, 2)).toEqual([
    ['company', [1]],
    ['product', [2]],
  ]);
  // Without a reference, only its uploader can read it again.
  await carry(owner, { entity: 'product', entityId: 2 }, []);
  expect(await may(seeing('product'))).toBe(false);
});

test('a record accepts only images that its writer may use, and the error names the fields of others', async () => {
  const mine = await upload();
  const fields = await refusedFields(carry(stranger, company(10), [mine, randomUUID(), 'no key']));
  expect(fields).toEqual(
    Object.fromEntries(
      [0, 1, 2].map(n => [
        `pictures.${n}.storageKey`,
        `pictures.${n}.storageKey must be the storage key of an uploaded file`,
      ]),
    ),
  );
  const carried = await carry(owner, company(10), [mine, mine.toUpperCase()]);
  expect([...carried.keys()]).toEqual([mine]);
  expect(carried.get(mine)).toMatchObject({
    name: 'picture.jpg',
    contentType: 'image/png',
    size: png.length,
  });
  // Writers of a record keep its images; in other records they can only use images of their own records.
  await carry(stranger, company(10), [mine]);
  await refusedFields(carry(stranger, company(11), [mine]));
  await carry(
    stranger,
    company(11),
    [mine],
    kindsWith((_entity, ids) => ids.includes(10)),
  );

  const document = await upload('document');
  const logo: ImageReference = { field: 'logo.storageKey', storageKey: document, kind: 'image' };
  const reader = { caller: asCaller(owner), records: nothing };
  const asLogo = transaction(trace.pool, database => setReferences(database, reader, company(12), [logo]));
  expect(await refusedFields(asLogo)).toEqual({
    'logo.storageKey': 'logo.storageKey must be the storage key of an uploaded image',
  });
});

/** Runs the hourly sweep as of a number of days from now, in several processes at once. */
async function sweepIn(days: number): Promise<void> {
  const now = new Date(Date.now() + days * DAY_MS);
  await Promise.all([1, 2, 3].map(() => sweep({ pool: trace.pool, files }, now)));
}

const kept = async (key: string) =>
  (await storedFiles(trace.folder)).filter(file => file.includes(key)).length;

test('images that no record refers to are removed after 30 days, others stay', async () => {
  const [carried, forgotten, replaced] = await Promise.all([upload(), upload('document'), upload()]);
  await carry(owner, company(20), [carried]);
  await carry(owner, company(21), [replaced]);
  await sweepIn(29.9);
  expect(await status(forgotten, 'document')).toBe(200);
  // An image removed from a record stays for 30 days from then, not from its upload.
  await trace.pool.query("UPDATE images SET uploaded_at = uploaded_at - interval '1 year'");
  await carry(owner, company(21), []);
  await sweepIn(29.9);
  expect(await status(replaced)).toBe(200);
  await sweepIn(30.1);
  expect([await status(carried), await status(forgotten, 'document'), await status(replaced)]).toEqual([
    200, 404, 404,
  ]);
  const { rows } = await trace.pool.query(
    "SELECT action, user_id FROM audit WHERE action LIKE 'EXPIRE%' AND details->>'storageKey' = $1",
    [forgotten],
  );
  expect(rows).toEqual([{ action: 'EXPIRE_DOCUMENT', user_id: null }]);
  // Its content is removed a day later, because somebody may still be reading it.
  expect(await kept(forgotten)).toBe(1);
  await sweepIn(31.2);
  expect([await kept(forgotten), await kept(replaced), await kept(carried)]).toEqual([0, 0, 2]);
  await refusedFields(carry(owner, company(22), [replaced]));
});

test('an interrupted upload leaves nothing after a day', async () => {
  const key = randomUUID();
  await announceImage(trace.pool, key, new Date(Date.now() + DAY_MS));
  await files.put(`images/${key}/original`, png);
  await sweepIn(0.9);
  expect(await kept(key)).toBe(1);
  await sweepIn(1.1);
  expect(await kept(key)).toBe(0);
});

test('a concurrent reference and expiry leave an image either in use or expired', async () => {
  for (let round = 0; round < 10; round++) {
    const keys = await Promise.all([upload(), upload()]);
    const outcomes = await Promise.allSettled([
      sweepIn(31),
      carry(owner, company(100 + round), keys),
      carry(owner, { entity: 'product', entityId: 100 + round }, keys.toReversed()),
    ]);
    expect(outcomes[0].status).toBe('fulfilled');
    const wasCarried = outcomes.slice(1).some(({ status }) => status === 'fulfilled');
    for (const key of keys) expect(await status(key)).toBe(wasCarried ? 200 : 404);
  }
});
