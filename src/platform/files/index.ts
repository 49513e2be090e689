import path from 'node:path';
import { type Settings, SettingsError } from '../settings/settings.ts';
import type { FileStore } from './file-store.ts';
import { folderStore } from './folder-store.ts';
import { type S3Settings, s3Store } from './s3-store.ts';

export type { ByteRange, FileStore } from './file-store.ts';
export type { Received } from './received.ts';

/**
 * The configured store: the bucket S3_BUCKET, or the folder DATA_DIR/files. Opening it does no I/O.
 *
 * @throws SettingsError
 */
export function openFileStore(settings: S3Settings & Pick<Settings, 'DATA_DIR'>): FileStore {
  const folder = path.resolve(settings.DATA_DIR, 'files');
  const { S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = settings;
  if ((S3_ACCESS_KEY_ID === undefined) !== (S3_SECRET_ACCESS_KEY === undefined)) {
    throw new SettingsError('set both S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or neither');
  }
  return S3_BUCKET === undefined ? folderStore(folder) : s3Store({ ...settings, S3_BUCKET }, folder);
}
