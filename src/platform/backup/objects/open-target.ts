import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Settings, SettingsError } from '../../settings/settings.ts';
import { folderTarget } from './folder-target.ts';
import { s3Target } from './s3-target.ts';
import type { BackupTarget } from './target.ts';

export type TargetSettings = Pick<
  Settings,
  | 'BACKUP_URL'
  | 'DATA_DIR'
  | 'S3_ENDPOINT'
  | 'S3_REGION'
  | 'S3_ACCESS_KEY_ID'
  | 'S3_SECRET_ACCESS_KEY'
  | 'BACKUP_S3_ENDPOINT'
  | 'BACKUP_S3_REGION'
  | 'BACKUP_S3_ACCESS_KEY_ID'
  | 'BACKUP_S3_SECRET_ACCESS_KEY'
>;

/**
 * The target that BACKUP_URL names. Opening it costs nothing.
 *
 * @throws SettingsError
 */
export function openTarget(settings: TargetSettings): BackupTarget {
  const { BACKUP_URL } = settings;
  if (BACKUP_URL === undefined) throw new SettingsError('backups need BACKUP_URL: set it first');
  const url = new URL(BACKUP_URL);
  return url.protocol === 'file:' ? openFolder(url, settings.DATA_DIR) : openBucket(url, settings);
}

function openFolder(url: URL, dataDir: string): BackupTarget {
  if (url.host !== '' || url.search !== '' || url.hash !== '') {
    throw new SettingsError('BACKUP_URL must be file:///folder, without a host, ? or #');
  }
  const folder = path.resolve(fileURLToPath(url));
  const inside = path.relative(path.resolve(dataDir), folder);
  if (inside === '' || !(inside.startsWith('..') || path.isAbsolute(inside))) {
    throw new SettingsError('BACKUP_URL must not be inside DATA_DIR: losing that disk would lose both');
  }
  return folderTarget(folder);
}

function openBucket(url: URL, settings: TargetSettings): BackupTarget {
  const own = settings.BACKUP_S3_ACCESS_KEY_ID;
  if ((own === undefined) !== (settings.BACKUP_S3_SECRET_ACCESS_KEY === undefined)) {
    throw new SettingsError('set both BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or neither');
  }
  return s3Target({
    bucket: url.hostname,
    prefix: decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, ''),
    S3_ENDPOINT: settings.BACKUP_S3_ENDPOINT ?? settings.S3_ENDPOINT,
    S3_REGION: settings.BACKUP_S3_REGION ?? settings.S3_REGION,
    S3_ACCESS_KEY_ID: own ?? settings.S3_ACCESS_KEY_ID,
    S3_SECRET_ACCESS_KEY: own ? settings.BACKUP_S3_SECRET_ACCESS_KEY : settings.S3_SECRET_ACCESS_KEY,
  });
}
