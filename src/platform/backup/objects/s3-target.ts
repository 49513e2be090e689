import { openS3, type S3Settings } from '../../files/s3-store.ts';
import { BUCKET_RULES } from '../../settings/types.ts';
import { BackupError } from './backup-error.ts';
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

  const location = `s3://${Bucket}/${prefix}${settings.S3_ENDPOINT ? ` at ${settings.S3_ENDPOINT}` : ''}`;
  async function put(name: string, Body: Uint8Array): Promise<'stored' | 'exists'> {
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
  }

  async function get(name: string): Promise<Uint8Array | undefined> {
    const { sdk, client } = await s3();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(name) }));
      return await Body?.transformToByteArray();
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  const pages = (prefix: string, delimiter?: string) =>
    naming(`listing ${prefix}* in ${location}`, pagesOf(s3, Bucket, keyOf(prefix), delimiter));

  return {
    location,
    put: (name, bytes) => named(`storing ${name} in ${location}`, put(name, bytes)),
    get: name => named(`reading ${name} in ${location}`, get(name)),
    async *list(prefix) {
      for await (const { Contents = [] } of pages(prefix)) {
        for (const { Key = '', Size = 0, LastModified = new Date(0) } of Contents) {
          yield { name: Key.slice(before.length), bytes: Size, modified: LastModified };
        }
      }
    },
    async folders(prefix) {
      const names: string[] = [];
      for await (const { CommonPrefixes = [] } of pages(prefix, '/')) {
        names.push(...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(keyOf(prefix).length, -1)));
      }
      return names;
    },
    remove: names =>
      named(
        `removing objects in ${location}`,
        s3().then(opened => removeObjects(opened, Bucket, names.map(keyOf))),
      ),
  };
}

/** @throws BackupError that says what failed, and why */
function named<Result>(what: string, work: Promise<Result>): Promise<Result> {
  return work.catch(error => {
    throw failure(what, error);
  });
}

/** Like `named`, for pages. */
async function* naming<Item>(what: string, items: AsyncIterable<Item>): AsyncIterable<Item> {
  try {
    yield* items;
  } catch (error) {
    throw failure(what, error);
  }
}

function failure(what: string, error: unknown): BackupError {
  const { name, message, code } = error as Error & { code?: string };
  const status = statusOf(error);
  const reason = [
    ...new Set([code, name === 'Error' ? undefined : name, message, status && `status ${status}`]),
  ];
  const rules = name === 'InvalidBucketName' ? `; ${BUCKET_RULES}` : '';
  return new BackupError(`${what} failed: ${reason.filter(Boolean).join(', ')}${rules}`, { cause: error });
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
