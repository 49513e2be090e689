import { hash } from 'node:crypto';
import type pg from 'pg';
import { rowsOf } from '../../platform/database/cursor.ts';
import type { FileStore } from '../../platform/files/index.ts';
import {
  jsonFile,
  type PersonalData,
  type PersonalFile,
  rowsFile,
  safeName,
  storedFile,
} from '../../platform/personal-data/personal-data.ts';
import { auditOf } from '../base/audit/personal-store.ts';
import { findCompanyIds } from '../catalogue/companies/members/members-store.ts';
import {
  findAddressInvitationIds,
  invitationsOf,
  membershipsOf,
} from '../catalogue/companies/members/personal-store.ts';
import { companiesBy } from '../catalogue/companies/record/personal-store.ts';
import { imagesBy, type PersonalImage } from '../catalogue/images/personal-store.ts';
import { originalKey } from '../catalogue/images/renditions.ts';
import { changesBy, productsBy } from '../catalogue/products/personal-store.ts';
import { apiKeysOf } from '../identity/api-keys/personal-store.ts';
import { loginAddressesOf, loginFailuresOf } from '../identity/attempts/personal-store.ts';
import { findEmailChange } from '../identity/email-change/store.ts';
import { failedMailsOf, mailsOf } from '../identity/mails/personal-store.ts';
import { requiredFactor } from '../identity/second-factor/factor.ts';
import { countRecoveryCodes } from '../identity/second-factor/store.ts';
import { sessionsOf } from '../identity/sessions/personal-store.ts';
import { emailKeyOf } from '../identity/users/email.ts';
import { findPersonalUser } from '../identity/users/personal-store.ts';
import { findConfirmedEmailKey } from '../identity/users/store.ts';
import { feedbackFrom } from '../public/feedback/personal-store.ts';

const FOLDER = 'trace-backend';

export interface ExportContext {
  /** connections with transactions that may wait for the reader of the export */
  exports: pg.Pool;
  files: FileStore;
  /** the packet service's personal data; undefined if it has another user registry */
  packetServiceData: PersonalData | undefined;
}

/**
 * All data about a user, as files: first a table of contents, then the data of the trace backend, then those of the
 * packet service. Secrets (password, keys, tokens) are omitted.
 */
export async function* personalFiles(
  { exports, files, packetServiceData }: ExportContext,
  userId: number,
  now: Date,
): AsyncGenerator<PersonalFile> {
  const isHere = (await packetServiceData?.isHere()) === true;
  const user = await findPersonalUser(exports, userId);
  const { companyIds } = await findCompanyIds(exports, userId);
  yield jsonFile('about.json', {
    user_id: String(userId),
    exported_at: now.toISOString(),
    trace_backend: 'included',
    packet_service: isHere
      ? 'included'
      : 'not included: its data are in another database; export them there with `fieldtrace export user`',
  });
  yield await accountFile(exports, userId, now);
  const email = user?.email ?? '';
  const confirmedKey = await findConfirmedEmailKey(exports, userId);
  const invitationIds = await findAddressInvitationIds(exports, confirmedKey);
  yield* tables(exports, userId, { companyIds, invitationIds, email, confirmedKey });
  yield* uploadsOf(exports, files, userId);
  if (isHere && packetServiceData) yield* packetServiceData.files(String(userId));
}

async function* uploadsOf(exports: pg.Pool, files: FileStore, userId: number): AsyncGenerator<PersonalFile> {
  for await (const rows of rowsOf<PersonalImage>(exports, imagesBy(userId))) {
    for (const { storageKey, name } of rows) {
      const path = `${FOLDER}/files/${storageKey}-${safeName(name)}`;
      const file = await storedFile(files, path, originalKey(storageKey));
      if (file) yield file;
    }
  }
}

async function accountFile(exports: pg.Pool, userId: number, now: Date): Promise<PersonalFile> {
  const change = await findEmailChange(exports, userId, now);
  return jsonFile(`${FOLDER}/account.json`, {
    ...(await findPersonalUser(exports, userId)),
    secondFactor: (await requiredFactor(exports, userId)) !== undefined,
    recoveryCodes: await countRecoveryCodes(exports, userId),
    ...(change && { emailChange: { email: change.email, expiresAt: change.expiresAt } }),
  });
}

/** The other keys by which a user's data are found. */
interface Related {
  companyIds: readonly number[];
  /** ids of invitations sent to the address */
  invitationIds: readonly number[];
  email: string;
  /** the lookup form of the address, if its owner has confirmed it */
  confirmedKey: string | undefined;
}

function* tables(
  exports: pg.Pool,
  userId: number,
  { companyIds, invitationIds, email, confirmedKey }: Related,
): Generator<PersonalFile> {
  const statements = {
    sessions: sessionsOf(userId),
    'api-keys': apiKeysOf(userId),
    'login-addresses': loginAddressesOf(userId),
    'failed-logins': loginFailuresOf(hash('sha256', emailKeyOf(email), 'buffer')),
    mails: mailsOf(userId),
    'failed-mails': failedMailsOf(userId, invitationIds),
    memberships: membershipsOf(userId),
    invitations: invitationsOf(userId, confirmedKey),
    companies: companiesBy(userId),
    products: productsBy(userId, companyIds),
    'product-changes': changesBy(userId, companyIds),
    feedback: feedbackFrom(confirmedKey === undefined ? undefined : email),
    images: imagesBy(userId),
    audit: auditOf(userId),
  };
  for (const [name, statement] of Object.entries(statements)) {
    yield rowsFile(exports, `${FOLDER}/${name}.ndjson`, statement);
  }
}
