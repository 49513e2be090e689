import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { PersonalFile } from './personal-data.ts';

/**
 * The files as a ZIP archive, read one after another and no faster than the archive is. An error destroys the stream,
 * so that half an archive never looks complete; destroying it ends the files too.
 *
 * @param now the time of the files in the archive
 */
export function zipOf(files: AsyncIterable<PersonalFile>, now: Date): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', error => output.destroy(error as Error));
  const options = { mtime: now, mode: 0o100600 };
  (async () => {
    for await (const { name, open } of files) {
      const stream = await open();
      const stop = () => stream.destroy();
      if (output.destroyed) stop();
      output.once('close', stop);
      zip.addReadStream(stream, name, options);
      await finished(stream);
      output.off('close', stop);
    }
    zip.end();
  })().catch(error => output.destroy(error));
  return output;
}
