import { openS3, type S3Settings } from '../../files/s3-store.ts';
import type { BackupTarget } from './target.ts';

/** Objects that one request deletes, at most (DeleteObjects of the S3 API). */
const DELETED_AT_ONCE = 1000;

export interface S3TargetSettings extends Omit<S3Settings, 'S3_BUCKET'> {
  bucket: string;
  /** without / at either end; may be empty */
  prefix: string;
}

/** A target in an S3 bucket. */
export function s3Target({ bucket: Bucket, prefix, ...settings }: S3TargetSettings): BackupTarget {
  let opened: ReturnType<typeof openS3> | undefined;
  const s3 = () => {
    opened ??= openS3(settings);
    return opened;
  };
  const before = prefix === '' ? '' : `${prefix}/`;
  const keyOf = (name: string) => before + name;

  async function exists(name: string): Promise<boolean> {
    const { sdk, client } = await s3();
    try {
      await client.send(new sdk.HeadObjectCommand({ Bucket, Key: keyOf(name) }));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  return {
    location: `s3://${Bucket}/${prefix}${settings.S3_ENDPOINT ? ` at ${settings.S3_ENDPOINT}` : ''}`,
    async put(name, Body) {
      const { sdk, client } = await s3();
      // Asked first, because not every store knows the condition; the condition decides where two write at once.
      if (await exists(name)) return 'exists';
      const object = { Bucket, Key: keyOf(name), Body, ContentLength: Body.length };
      try {
        await client.send(new sdk.PutObjectCommand({ ...object, IfNoneMatch: '*' }));
      } catch (error) {
        if (statusOf(error) === 412) return 'exists';
        if (statusOf(error) !== 501) throw error;
        await client.send(new sdk.PutObjectCommand(object));
      }
      return 'stored';
    },
    async get(name) {
      const { sdk, client } = await s3();
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(name) }));
        return await Body?.transformToByteArray();
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    },
    async *list(prefix) {
      for await (const { Contents = [] } of pagesOf(s3, Bucket, keyOf(prefix))) {
        for (const { Key = '', Size = 0, LastModified = new Date(0) } of Contents) {
          yield { name: Key.slice(before.length), bytes: Size, modified: LastModified };
        }
      }
    },
    async folders(prefix) {
      const names: string[] = [];
      for await (const { CommonPrefixes = [] } of pagesOf(s3, Bucket, keyOf(prefix), '/')) {
        names.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(keyOf(prefix).length, -1)));
      }
      return names;
    },
    remove: async names => removeObjects(await s3(), Bucket, names.map(keyOf)),
  };
}

type Client = Awaited<ReturnType<typeof openS3>>;

async function* pagesOf(s3: () => Promise<Client>, Bucket: string, Prefix: string, Delimiter?: string) {
  const { sdk, client } = await s3();
  let ContinuationToken: string | undefined;
  do {
    const page = await client.send(
      new sdk.ListObjectsV2Command({ Bucket, Prefix, Delimiter, ContinuationToken }),
    );
    yield page;
    ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (ContinuationToken);
}

async function removeObjects(
  { sdk, client }: Client,
  Bucket: string,
  keys: readonly string[],
): Promise<void> {
  for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
    const Objects = keys.slice(at, at + DELETED_AT_ONCE).map(Key => ({ Key }));
    const Delete = { Objects, Quiet: true };
    const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete }));
    if (Errors[0]) throw new Error(`${Errors[0].Key} cannot be removed: ${Errors[0].Message}`);
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
