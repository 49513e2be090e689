import { afterAll, beforeAll, expect, test } from 'vitest';
import { asService, type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf } from '../../../../test/helpers/mail-server.ts';
import { migrateUpTo } from '../../../../test/helpers/migrate-up-to.ts';
import { ADMIN, runningTrace } from '../../../../test/helpers/trace.ts';
import { openPool } from '../../../platform/database/database.ts';
import { migrateTraceBackend } from '../../app.ts';

/** The migration that gave mails that were given up the states of deliveries. */
const RENAMED = '103-failed-mails.sql';

let database: TestDatabase;
let mail: MailServer;
beforeAll(async () => {
  database = await testDatabase();
  mail = await mailServer();
  await migrateUpTo(database, RENAMED);
});
afterAll(async () => {
  await mail.stop();
  await database.drop();
});

test('an upgrade keeps queued and failed mails: they arrive, and are listed and sent again as before', async () => {
  const { connection } = database;
  const pool = openPool(connection, 'trace_backend', 1);
  const addUser = async (email: string): Promise<number> => {
    const { rows } = await pool.query(
      `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
       VALUES ($1, $1, '', 'Zawadi', 'Mwangi', 'EN', 'UNCONFIRMED', 'USER', now()) RETURNING id`,
      [email],
    );
    return rows[0].id;
  };
  const queue = async (to: number): Promise<string> => {
    const id = crypto.randomUUID();
    await pool.query(
      `INSERT INTO trace_backend_jobs.job (name, data, dead_letter) VALUES ('mail', $1, 'dead')`,
      [{ kind: 'confirm', to, id }],
    );
    return id;
  };
  const giveUp = (userId: number, status: string, mailId: string = crypto.randomUUID()) =>
    pool.query(
      `INSERT INTO failed_mails (mail_id, job, user_id, status, attempts, last_error, failed_at)
       VALUES ($1, $2, $3, $4, 3, 'the mail server answered 451', '2026-03-01T08:15:00Z')`,
      [mailId, { kind: 'confirm', to: userId }, userId, status],
    );
  const names = ['waiting', 'replayed', 'failed', 'obsolete'].map(name => `${name}@example.org`);
  const [waiting, replayed, failed, obsolete] = (await Promise.all(names.map(addUser))) as [
    number,
    number,
    number,
    number,
  ];
  await queue(waiting);
  await giveUp(replayed, 'QUEUED', await queue(replayed));
  await giveUp(failed, 'FAILED');
  await giveUp(obsolete, 'OBSOLETE');

  expect(await migrateTraceBackend(asService(connection), connection)).toContain(RENAMED);
  const trace = await runningTrace({ SMTP_URL: mail.url }, { connection });
  const admin = await trace.login(ADMIN.username, ADMIN.password);
  const path = '/api/administration/failed-mails';
  const list = async () => (await admin.send('GET', path)).body.data.items;
  for (const email of ['waiting@example.org', 'replayed@example.org']) {
    expect(textOf((await mail.mailsTo(email))[0])).toContain('http');
  }
  const items = await eventually(list, ({ length }) => length === 2);
  const before = { kind: 'confirm', attempts: 3, lastError: 'the mail server answered 451' };
  expect(items).toMatchObject([
    { ...before, userId: obsolete, status: 'OBSOLETE', failedAt: '2026-03-01T08:15:00.000Z' },
    { ...before, userId: failed, status: 'FAILED', recipient: 'failed@example.org' },
  ]);
  expect((await admin.send('POST', `${path}/replay`, {})).body.data).toEqual({ replayed: 1 });
  await mail.mailsTo('failed@example.org');
  await eventually(list, ({ length }) => length === 1);
  await trace.stop();
  await pool.end();
});
