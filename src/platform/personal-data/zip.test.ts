import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { unzip } from '../../../test/helpers/zip.ts';
import { jsonFile, type PersonalFile, safeName } from './personal-data.ts';
import { zipOf } from './zip.ts';

async function* listed(...files: PersonalFile[]): AsyncGenerator<PersonalFile> {
  yield* files;
}

test('an archive holds every file, read one after another', async () => {
  let open = 0;
  let most = 0;
  const large = (name: string): PersonalFile => ({
    name,
    async open() {
      most = Math.max(most, ++open);
      const stream = Readable.from(
        (function* () {
          for (let n = 0; n < 100; n++) yield Buffer.alloc(10_000, name);
        })(),
      );
      stream.once('close', () => open--);
      return stream;
    },
  });
  const archive = zipOf(listed(large('a'), large('b'), jsonFile('ñ.json', { a: 1 })), new Date());
  const files = await unzip(await buffer(archive));
  expect([...files].map(([name, bytes]) => [name, bytes.length])).toEqual([
    ['a', 1_000_000],
    ['b', 1_000_000],
    ['ñ.json', 13],
  ]);
  expect(most).toBe(1);
});

test('an error on the way destroys the archive, and closes open files', async () => {
  const broken: PersonalFile[] = [
    { name: 'never', open: () => Promise.reject(new Error('no such file')) },
    { name: 'half', open: async () => Readable.from(failing()) },
  ];
  for (const file of broken) {
    await expect(buffer(zipOf(listed(jsonFile('a', 1), file), new Date()))).rejects.toThrow('no such file');
  }
  const reading = Promise.withResolvers<void>();
  const endless: Readable = new Readable({
    read() {
      endless.push(Buffer.alloc(1000));
      reading.resolve();
    },
  });
  const left = zipOf(listed({ name: 'endless', open: async () => endless }), new Date()).resume();
  await reading.promise;
  const closed = new Promise(resolve => endless.once('close', resolve));
  left.destroy();
  await closed;
});

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(10);
  throw new Error('no such file');
}

test('a name is one segment of a path, whatever the name of the file', () => {
  const names = ['../../etc/passwd', 'C:\\x\\y.png', '.bashrc', 'Café 1.jpg', '', 'a\u202eb', '\n'];
  expect(names.map(safeName)).toEqual([
    'etc_passwd',
    'C_x_y.png',
    'bashrc',
    'Café_1.jpg',
    'file',
    'a_b',
    'file',
  ]);
});
