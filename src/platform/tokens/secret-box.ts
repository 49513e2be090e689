import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { type Settings, SettingsError } from '../settings/settings.ts';

const SEALED = 'sealed:v1:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts what must be kept readable to the program, such as a key that signs, before it goes into the database. */
export interface SecretBox {
  /**
   * A text as it is kept: encrypted where SECRETS_KEY is set, and otherwise itself.
   *
   * @param location where it is kept, such as a table and a key; it cannot be opened as that of another location
   */
  seal(text: string, location: string): string;
  /**
   * What was sealed; a text that was kept before SECRETS_KEY was set is itself.
   *
   * @throws SettingsError when SECRETS_KEY is missing, or is another one
   */
  open(kept: string, location: string): string;
  /** Whether a kept text is as `seal` would keep it now: encrypted with the first key. */
  isCurrent(kept: string): boolean;
}

interface Key {
  id: string;
  bytes: Buffer;
}

/**
 * AES-256-GCM with keys derived from SECRETS_KEY (HKDF-SHA256, RFC 5869). Of several keys, separated by commas, the
 * first encrypts and all decrypt.
 */
export function secretBox({ SECRETS_KEY }: Pick<Settings, 'SECRETS_KEY'>): SecretBox {
  const keys = SECRETS_KEY?.split(',').map(deriveKey) ?? [];
  const [first] = keys;
  return {
    seal: (text, location) => (first ? encrypt(first, text, location) : text),
    open(kept, location) {
      if (!kept.startsWith(SEALED)) return kept;
      const [id = '', payload = ''] = kept.slice(SEALED.length).split(':');
      const key = keys.find(key => key.id === id);
      if (!key) {
        const sentence = keys.length === 0 ? 'must be set' : 'is not the one';
        throw new SettingsError(
          `SECRETS_KEY ${sentence} that secrets in the database are encrypted with (${location})`,
        );
      }
      return decrypt(key, payload, location);
    },
    isCurrent: kept => (first ? kept.startsWith(`${SEALED}${first.id}:`) : !kept.startsWith(SEALED)),
  };
}

function deriveKey(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'fieldtrace secrets at rest', 32));
  return { id: hash('sha256', Buffer.concat([Buffer.from('id'), bytes]), 'hex').slice(0, 8), bytes };
}

function encrypt({ id, bytes }: Key, text: string, location: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(Buffer.from(location));
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${SEALED}${id}:${Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64url')}`;
}

function decrypt({ bytes }: Key, payload: string, location: string): string {
  const sealed = Buffer.from(payload, 'base64url');
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', bytes, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(location)).setAuthTag(tag);
  const content = sealed.subarray(IV_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8');
}
