import { expect } from 'vitest';
import { testWith } from './helpers/debian.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { jsonLines, runGuide } from './helpers/guide.ts';
import { startProcess } from './helpers/process.ts';

const test = await testWith('curl');

const id = expect.stringMatching(/^[0-9A-Z]{26}$/);

test('every command of "A phone\'s day" does what the guide says, on a fresh start', async () => {
  const { folder, remove } = await temporaryFolder();
  const service = await startProcess({ DATA_DIR: folder });
  const outputs = await runGuide('docs/guides/a-phones-day.md', service.url, () => true);
  const [fields, observations, named, whole, , rest, part, chat, , batch, feed, sync, restored, verify] =
    outputs as [string, ...string[]];

  const [{ fields: registered }] = jsonLines(fields) as [{ fields: { geoid: string; status: string }[] }];
  expect(registered).toMatchObject([{ status: 'registered' }]);

  const [first, second] = jsonLines(observations as string) as { packet_uuid: string }[];
  expect(first).toEqual({ packet_uuid: id });
  expect(second).toEqual(first);
  const packet = (await service.send('GET', `/packets/${first?.packet_uuid}`)).body;
  expect(packet.Header).toMatchObject({
    geoid: registered[0]?.geoid,
    timestamp: '2026-03-01T08:15:00+02:00',
  });
  expect(packet.Body.severity).toBe(2);

  const [withPicture] = jsonLines(named as string) as { packet_uuid: string }[];
  const [picture] = jsonLines(whole as string) as { attachment_id: string; size: number }[];
  expect(picture?.size).toBe(300_000);
  expect(rest).toBe('204');
  expect(part).toBe('same');
  const pictures = (await service.send('GET', `/packets/${withPicture?.packet_uuid}/attachments`)).body;
  expect(pictures.attachments).toMatchObject([{ attachment_id: picture?.attachment_id, status: 'stored' }]);

  expect(jsonLines(chat as string)).toEqual([{ message: expect.any(String), added: 1 }]);
  const answers = jsonLines(batch as string) as { packet_uuid: string }[];
  expect(answers).toEqual([
    { packet_uuid: id },
    { error: expect.stringMatching(/^capture_point/), status: 400 },
    { packet_uuid: id },
  ]);
  expect(feed).toMatch(
    /^event: chat\.message\nid: \d+\.[0-9a-f]{8}\ndata: \{.*"packet_id":"[0-9A-Z]{26}".*\}$/m,
  );
  expect(feed).toContain(answers[2]?.packet_uuid);
  expect(feed).not.toContain('Mavuno');

  const [ofBen, all] = jsonLines(sync as string) as {
    packets: { position: number }[];
    count: number;
    more: boolean;
  }[];
  expect(ofBen).toMatchObject({ count: 1, more: false });
  expect(all).toMatchObject({ packets: [{ position: 1 }], count: 1, more: true });
  // The place in the guide is of no log here: the phone was answered 409 and got everything once more.
  expect(jsonLines(restored as string)).toEqual([ofBen]);
  const [verified] = jsonLines(verify as string) as [{ valid: boolean }];
  expect(verified.valid).toBe(true);

  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
});

test('every command of "The graph" does what the guide says, on a fresh start', async () => {
  const { folder, remove } = await temporaryFolder();
  const service = await startProcess({ DATA_DIR: folder, SERVICES: 'packet' });
  const outputs = await runGuide('docs/guides/graph.md', service.url, () => true);
  const [all, part, rdf] = outputs as [string, string, string];
  const triples = jsonLines(all) as { subject: string; predicate: string; object: string }[];
  expect(triples.map(({ predicate }) => predicate)).toEqual([
    'rdf:type',
    'packet:type',
    'packet:geoid',
    'packet:timestamp',
  ]);
  expect(jsonLines(part)).toEqual(triples);
  expect(rdf).toContain(`<urn:fieldtrace:packet:${triples[0]?.subject}>`);
  expect(rdf).toContain('@prefix : <urn:fieldtrace:vocabulary:>');
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
});
