import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { PersonalFile } from './personal-data.ts';

/**
 * The files as a ZIP archive, read one after another and no faster than the archive is. What goes wrong on the way
 * destroys the stream, so that half an archive never looks like a whole one.
 *
 * @param now the time that the archive says its files are of
 */
export function zipOf(files: AsyncIterable<PersonalFile>, now: Date): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const open = new Set<Readable>();
  zip.on('error', error => output.destroy(error as Error));
  output.once('close', () => {
    for (const stream of open) stream.destroy();
  });
  const options = { mtime: now, mode: 0o100600 };
  (async () => {
    for await (const { name, open: read } of files) {
      zip.addReadStreamLazy(name, options, done => {
        if (output.destroyed) return;
        read().then(
          stream => {
            if (output.destroyed) {
              stream.destroy();
              return;
            }
            open.add(stream);
            // The library looks after errors of streams that it is given at once only.
            stream.once('error', error => output.destroy(error));
            stream.once('close', () => open.delete(stream));
            done(null, stream);
          },
          done as (error: unknown) => void,
        );
      });
    }
    zip.end();
  })().catch(error => output.destroy(error));
  return output;
}
