import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { findKeys, findSecrets, lockFirstStart, resealKey, resealSecret } from './store.ts';

/** The context strings of signing keys and secrets for the secret box. */
export const keyContext = (kid: string) => `signing_keys ${kid}`;
export const secretContext = (name: string) => `kept_secrets ${name}`;

/**
 * Checks that a box opens all stored secrets: a mixture of keys would lock the services out.
 *
 * @throws SettingsError if something cannot be decrypted
 */
export async function checkSecrets(database: Database, box: SecretBox): Promise<void> {
  for (const { kid, privateKey } of await findKeys(database)) box.open(privateKey, keyContext(kid));
  for (const { name, value } of await findSecrets(database)) box.open(value, secretContext(name));
}

/**
 * Encrypts all stored secrets with the current SECRETS_KEY: those stored before it was set, and those encrypted with
 * an earlier key.
 *
 * @throws SettingsError if something cannot be decrypted
 */
export async function sealSecrets(pool: pg.Pool, box: SecretBox): Promise<void> {
  await transaction(pool, async database => {
    await lockFirstStart(database);
    for (const { kid, privateKey } of await findKeys(database)) {
      const opened = box.open(privateKey, keyContext(kid));
      if (!box.isCurrent(privateKey)) await resealKey(database, kid, box.seal(opened, keyContext(kid)));
    }
    for (const { name, value } of await findSecrets(database)) {
      const opened = box.open(value, secretContext(name));
      if (!box.isCurrent(value)) await resealSecret(database, name, box.seal(opened, secretContext(name)));
    }
  });
}
