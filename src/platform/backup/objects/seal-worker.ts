import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';

/** Bytes that an object has before it is compressed, at most. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Of scrypt: 32 MiB of memory and about half a second, once per process. A passphrase has 20 characters or more. */
const SCRYPT_LOG_N = 15;
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Requests to the thread, one at a time for each `id`. */
export type SealRequest = { id: number } & (
  | { do: 'make-key'; backupKey: string }
  | { do: 'open-key'; backupKey: string; bytes: Uint8Array }
  | { do: 'seal'; identity: string; bytes: Uint8Array }
  | { do: 'open'; identity: string; bytes: Uint8Array }
);

export type SealAnswer = { id: number } & ({ error: string } | { bytes: Uint8Array; identity?: string });

async function answer(request: SealRequest): Promise<{ bytes: Uint8Array; identity?: string }> {
  switch (request.do) {
    case 'make-key': {
      const identity = await generateX25519Identity();
      const encrypter = new Encrypter();
      if (isIdentity(request.backupKey)) {
        encrypter.addRecipient(await identityToRecipient(request.backupKey));
      } else {
        encrypter.setPassphrase(request.backupKey);
        encrypter.setScryptWorkFactor(SCRYPT_LOG_N);
      }
      return { bytes: await encrypter.encrypt(identity), identity };
    }
    case 'open-key': {
      const decrypter = new Decrypter();
      if (isIdentity(request.backupKey)) decrypter.addIdentity(request.backupKey);
      else decrypter.addPassphrase(request.backupKey);
      return { bytes: new Uint8Array(), identity: await decrypter.decrypt(request.bytes, 'text') };
    }
    case 'seal': {
      const encrypter = new Encrypter();
      encrypter.addRecipient(await recipientOf(request.identity));
      return { bytes: await encrypter.encrypt(zstdCompressSync(request.bytes, COMPRESSION)) };
    }
    case 'open': {
      const decrypter = new Decrypter();
      decrypter.addIdentity(request.identity);
      const packed = await decrypter.decrypt(request.bytes);
      return { bytes: zstdDecompressSync(packed, { maxOutputLength: MAX_BYTES }) };
    }
  }
}

function isIdentity(backupKey: string): boolean {
  return backupKey.startsWith('AGE-SECRET-KEY-');
}

let known: { identity: string; recipient: string } | undefined;

async function recipientOf(identity: string): Promise<string> {
  if (known?.identity !== identity) known = { identity, recipient: await identityToRecipient(identity) };
  return known.recipient;
}

// A thread has a priority of its own on Linux alone. Only root could lower a niceness that the process has already.
if (process.platform === 'linux' && workerData.niceness > getPriority()) setPriority(workerData.niceness);

parentPort?.on('message', async (request: SealRequest) => {
  const { id } = request;
  try {
    parentPort?.postMessage({ id, ...(await answer(request)) } satisfies SealAnswer);
  } catch (error) {
    parentPort?.postMessage({ id, error: (error as Error).message } satisfies SealAnswer);
  }
});
