import { expect } from 'vitest';
import { testWith } from '../helpers/debian.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { jsonLines, runGuide } from '../helpers/guide.ts';
import { startProcess } from '../helpers/process.ts';

const test = await testWith('curl');

test('every command of "Keys for programs" does what the guide says, on a fresh start', async () => {
  const { folder, remove } = await temporaryFolder();
  const service = await startProcess({ DATA_DIR: folder, AUTH_MODE: 'required' });
  const trace = { url: service.traceUrl, folder };
  const outputs = await runGuide('docs/guides/keys.md', service.url, () => true, trace);
  const [created, used, ended, refreshed] = outputs as [string, string, string, string];

  const [{ data: key }] = jsonLines(created) as [{ data: { id: string; key: string } }];
  expect(key).toMatchObject({ name: 'weather station', scopes: ['write'] });
  expect(key.key).toMatch(/^ft_[0-9A-Za-z]{49}$/);
  expect(jsonLines(used)).toMatchObject([
    { packet_uuid: expect.any(String) },
    { data: { role: 'SYSTEM_ADMIN' } },
  ]);
  const [list, revoked, status] = jsonLines(ended) as [{ data: { items: object[] } }, object, number];
  expect(list.data.items).toMatchObject([{ id: key.id, lastUsedAt: expect.any(String) }]);
  expect([revoked, status]).toEqual([{ status: 'OK' }, 401]);
  expect(jsonLines(refreshed)).toMatchObject([
    { data: { access_token: expect.any(String), refresh_token: expect.any(String) } },
  ]);

  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
});
