import { expect, onTestFinished, test } from 'vitest';
import { fieldtrace, observe } from '../helpers/backup.ts';
import { asService, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/free-port.ts';
import { startProcess } from '../helpers/process.ts';
import { sender } from '../helpers/service.ts';
import { share } from '../helpers/sharing.ts';
import { webhookReceiver } from '../helpers/webhook-receiver.ts';

interface Detail {
  name: string;
  status: string;
  message?: string;
}

/** A service whose mail server and webhook receiver are away. */
async function startWithoutReceivers() {
  const { folder, remove } = await temporaryFolder();
  const database = await testDatabase();
  const { host, port, user, password, database: name } = asService(database.connection);
  const receiver = await webhookReceiver();
  await receiver.die();
  const mail = `127.0.0.1:${await freePort()}`;
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    PACKET_PORT: `${await freePort()}`,
    TRACE_PORT: `${await freePort()}`,
    SERVICES: 'packet,trace',
    SMTP_URL: `smtp://ana:hunter2@${mail}`,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: 'x'.repeat(32),
    NOTIFICATION_RETRY_SECONDS: '2',
  };
  const service = await startProcess(settings);
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await database.drop();
    await remove();
  });
  return { service, settings, mail, receiver };
}

test('emails and webhooks that wait for an unreachable receiver are counted; health, doctor, status and log name it', async () => {
  const { service, settings, mail, receiver } = await startWithoutReceivers();
  const began = Date.now();
  const packet = await observe(service);
  for (let n = 0; n < 5; n++) {
    const { status } = await share(service, packet, `ben${n}@example.org`);
    expect(status).toBeLessThan(300);
  }
  const trace = sender(service.traceUrl);
  const account = { email: 'ana@example.org', password: 'maize in the rain', name: 'Ana', surname: 'Uwase' };
  expect((await trace('POST', '/api/user/register', account)).status).toBe(200);

  const detailOf = async (send: typeof trace, about: string) =>
    (await send('GET', '/health/ready')).body.details.find(
      (detail: Detail) => detail.name === about,
    ) as Detail;
  for (const [send, about, count] of [
    [service.send, 'mail', 5],
    [service.send, 'webhook', 5],
    [trace, 'mail', 1],
  ] as const) {
    const label =
      about === 'mail' ? `the mail server ${mail}` : `the webhook receiver ${new URL(receiver.url).host}`;
    const { message = '' } = await eventually(
      () => detailOf(send, about),
      detail => detail?.status === 'FAILING' && detail.message?.startsWith(`${count} `) === true,
    );
    const found = new RegExp(
      `^${count} deliver(?:y waits|ies wait) for ${label}, since (\\S+): .*(?:ESOCKET|ECONNREFUSED)`,
    ).exec(message);
    expect(Date.parse(found?.[1] as string), message).toBeGreaterThan(began - 1000);
    const metric = new RegExp(`^jobs_waiting\\{.*queue="${about}".*\\} ${count}$`, 'm');
    await eventually(async () => metric.test((await send('GET', '/metrics')).text));
  }

  const doctor = await fieldtrace(settings, 'doctor');
  expect(doctor.out).toContain(`5 deliveries wait for the mail server ${mail}, since 20`);
  expect(doctor.out).toContain(`1 delivery waits for the mail server ${mail}, since 20`);
  expect(doctor.out).toContain('repair it, or correct SMTP_URL');
  const status = await fieldtrace(settings, 'status');
  expect(status.out).toMatch(/^notifications: 10 waiting, 0 in progress/m);
  expect(status.out).toMatch(/^emails of the trace backend: 1 waiting, 0 in progress/m);
  await eventually(() => service.log().includes(`the mail server ${mail} takes nothing`));
  expect(service.output() + doctor.out).not.toContain('hunter2');

  await receiver.revive();
  await eventually(
    () => detailOf(service.send, 'webhook'),
    detail => detail.status === 'OK',
  );
});
