import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Settings } from '../settings/settings.ts';
import { checkKey, type FileStore, isKey } from './file-store.ts';
import { receivingFolder } from './folder-store.ts';
import { missing, storing } from './received.ts';

/** Timeout of S3 without traffic, in milliseconds. */
const SILENCE_MS = 30_000;

export type S3Settings = Pick<
  Settings,
  'S3_BUCKET' | 'S3_ENDPOINT' | 'S3_REGION' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY'
>;

/**
 * Stores files in an S3 bucket. Uploads are received in `folder` first: S3 needs to know their size, and slow clients
 * must not hold a connection to it.
 */
export function s3Store(settings: S3Settings & { S3_BUCKET: string }, folder: string): FileStore {
  const { keep: _, ...receiving } = receivingFolder(folder);
  const Bucket = settings.S3_BUCKET;
  let opened: ReturnType<typeof openS3> | undefined;
  // The SDK is large, so it is loaded on first use.
  const s3 = () => {
    opened ??= openS3(settings);
    return opened;
  };

  return {
    ...receiving,
    location: `the bucket ${Bucket}${settings.S3_ENDPOINT ? ` at ${settings.S3_ENDPOINT}` : ''}`,
    put: (key, content) =>
      storing(async () => {
        const { sdk, client } = await s3();
        const size = content instanceof Uint8Array ? content.length : content.size;
        const Body = content instanceof Uint8Array ? content : createReadStream(content.path);
        try {
          await client.send(
            new sdk.PutObjectCommand({ Bucket, Key: checkKey(key), Body, ContentLength: size }),
          );
        } finally {
          // A failed request has not read it to its end.
          if (!(Body instanceof Uint8Array)) Body.destroy();
        }
      }),
    size: key =>
      storing(async () => {
        const { sdk, client } = await s3();
        try {
          return (await client.send(new sdk.HeadObjectCommand({ Bucket, Key: checkKey(key) }))).ContentLength;
        } catch (error) {
          if (error instanceof sdk.S3ServiceException && error.$metadata.httpStatusCode === 404)
            return undefined;
          throw error;
        }
      }),
    read: (key, range) =>
      storing(async () => {
        const { sdk, client } = await s3();
        const Range = range && `bytes=${range.start}-${range.end}`;
        try {
          const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: checkKey(key), Range }));
          return Body as Readable;
        } catch (error) {
          throw error instanceof sdk.NoSuchKey ? missing(key) : error;
        }
      }),
    list: () => listKeys(s3, Bucket),
    remove: key =>
      storing(async () => {
        const { sdk, client } = await s3();
        await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: checkKey(key) }));
      }),
    removeAll: prefix =>
      storing(async () => {
        const { sdk, client } = await s3();
        for (;;) {
          const listed = new sdk.ListObjectsV2Command({ Bucket, Prefix: `${checkKey(prefix)}/` });
          const { Contents = [] } = await client.send(listed);
          if (Contents.length === 0) return;
          const Objects = Contents.map(({ Key }) => ({ Key }));
          await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
        }
      }),
  };
}

async function* listKeys(s3: () => ReturnType<typeof openS3>, Bucket: string): AsyncIterable<string> {
  const { sdk, client } = await storing(s3);
  let ContinuationToken: string | undefined;
  do {
    const listed = new sdk.ListObjectsV2Command({ Bucket, ContinuationToken });
    const page = await storing(() => client.send(listed));
    for (const { Key = '' } of page.Contents ?? []) if (isKey(Key)) yield Key;
    ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (ContinuationToken);
}

/** A client for the S3 that the settings name. The SDK is large: it is loaded here. */
export async function openS3(
  settings: Omit<S3Settings, 'S3_BUCKET'>,
): Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> {
  const { S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = settings;
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region: S3_REGION,
    ...(S3_ENDPOINT && { endpoint: S3_ENDPOINT, forcePathStyle: true }),
    ...(S3_ACCESS_KEY_ID &&
      S3_SECRET_ACCESS_KEY && {
        credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY },
      }),
    // Many compatible stores do not support checksums that S3 does not require.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: SILENCE_MS },
  });
  return { sdk, client };
}
