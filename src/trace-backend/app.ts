import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Counter, type Registry } from 'prom-client';
import { registerBackupStatus } from '../platform/backup/register-status.ts';
import { checkWrites } from '../platform/database/check-writes.ts';
import { databaseCondition } from '../platform/database/condition.ts';
import { type Connection, openPool, type PoolOptions, readSomething } from '../platform/database/database.ts';
import { openFileStore } from '../platform/files/index.ts';
import { registerHealth } from '../platform/http/health.ts';
import { listeningUrl, type Server } from '../platform/http/server.ts';
import { hourly } from '../platform/jobs/hourly.ts';
import { JOB_CONNECTIONS } from '../platform/jobs/jobs.ts';
import { type CallerSlots, openCallerSlots } from '../platform/limits/caller-slots.ts';
import { type AddressCounts, addressCounts } from '../platform/limits/rate-limit.ts';
import { removeOldCounts } from '../platform/limits/rate-limit-store.ts';
import { type Outbox, openOutbox } from '../platform/mail/outbox.ts';
import { type WatchPool, watchPools } from '../platform/metrics/databases.ts';
import { measureJobs } from '../platform/metrics/jobs.ts';
import { registerMetrics } from '../platform/metrics/metrics.ts';
import { watchReceivers } from '../platform/metrics/receivers.ts';
import { watchBreakers } from '../platform/outbound/breaker-watch.ts';
import { EXPORTS, type PersonalData } from '../platform/personal-data/personal-data.ts';
import type { ProcessContext } from '../platform/service/process-context.ts';
import { serviceTables } from '../platform/service/tables.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { type SecretBox, secretBox } from '../platform/tokens/secret-box.ts';
import type { UserRegistry } from '../platform/tokens/user-registry.ts';
import { authenticate } from './base/access/authentication.ts';
import { checkOrigins } from './base/access/origins.ts';
import { registerAudit } from './base/audit/routes.ts';
import { readBodies } from './base/contract/reading.ts';
import { registerCountries } from './base/countries/routes.ts';
import { type Lists, openLists } from './base/lists/lists.ts';
import { type Keys, openKeys } from './base/signing-keys/keys.ts';
import { sealSecrets } from './base/signing-keys/sealed.ts';
import { serviceTokenCheck } from './base/signing-keys/service-token.ts';
import { CODE_LISTS } from './catalogue/codes/lists.ts';
import { registerCodes } from './catalogue/codes/routes.ts';
import { readableCompany } from './catalogue/companies/access.ts';
import { findAddressesOf } from './catalogue/companies/invitations/addresses-store.ts';
import { expireInvitationsHourly } from './catalogue/companies/invitations/expire.ts';
import { invitationMail } from './catalogue/companies/invitations/invite.ts';
import { addressMail } from './catalogue/companies/invitations/invite-address.ts';
import { leaveAccepted } from './catalogue/companies/invitations/leave-accepted.ts';
import {
  findColleagueIds,
  findCompanyIds,
  findCompanyNames,
} from './catalogue/companies/members/members-store.ts';
import { registerCompanies } from './catalogue/companies/routes.ts';
import { openCurrency } from './catalogue/currency/open-currency.ts';
import { addIsoCurrencies } from './catalogue/currency/rates.ts';
import { registerCurrency } from './catalogue/currency/routes.ts';
import { registerFinalProducts } from './catalogue/final-products/routes.ts';
import { findFinalProductUses } from './catalogue/final-products/store.ts';
import { renditionMaker, renditions } from './catalogue/images/renditions.ts';
import { registerImages } from './catalogue/images/routes.ts';
import { registerBatches } from './catalogue/labels/batches/routes.ts';
import { openLabelCounts } from './catalogue/labels/counts/counts.ts';
import { registerLabelDocuments } from './catalogue/labels/documents/routes.ts';
import { registerLabels } from './catalogue/labels/routes.ts';
import { findValueChainUses } from './catalogue/products/record/store.ts';
import { registerProducts } from './catalogue/products/routes.ts';
import { registerValueChains } from './catalogue/value-chains/routes.ts';
import { findCodeUses } from './catalogue/value-chains/store.ts';
import { makeFirstAdmin } from './identity/administration/first-admin.ts';
import { registerAdministration } from './identity/administration/routes.ts';
import { keyFinder } from './identity/api-keys/key-finder.ts';
import { registerApiKeys } from './identity/api-keys/routes.ts';
import { registerDiscoverability } from './identity/discoverability/routes.ts';
import { registerEmailChange } from './identity/email-change/routes.ts';
import { shareEmailChange } from './identity/email-change/store.ts';
import { registerSecondFactor } from './identity/factor-setup/routes.ts';
import { registerFailedMails } from './identity/failed-mails/routes.ts';
import { failedMails } from './identity/mails/failed-store.ts';
import type { MailJob } from './identity/mails/mail-jobs.ts';
import {
  expireFailedMailsHourly,
  JOBS_SCHEMA,
  type MailContents,
  type Mails,
  openMails,
  QUEUES,
} from './identity/mails/mails.ts';
import { registerOperation } from './identity/operation/routes.ts';
import { sealFactors } from './identity/second-factor/factor.ts';
import { type Requirement, secondFactorRequirement } from './identity/second-factor/requirement.ts';
import { registerUsers } from './identity/self-service/routes.ts';
import { ACCESS_COOKIE, sessionCookies } from './identity/sessions/cookies.ts';
import { type Endings, openEndings } from './identity/sessions/endings.ts';
import { registerSessions } from './identity/sessions/routes.ts';
import { sessionFinder } from './identity/sessions/session-finder.ts';
import { openSessions } from './identity/sessions/sessions.ts';
import { registerGlobalSettings } from './identity/settings/routes.ts';
import { findInstanceName } from './identity/settings/store.ts';
import { openPasswords } from './identity/users/passwords.ts';
import { findUsers, searchUserIds } from './identity/users/store.ts';
import { type ErasureContext, eraseHourly } from './personal-data/erase.ts';
import type { ExportContext } from './personal-data/export.ts';
import { registerPersonalData } from './personal-data/routes.ts';
import { registerFeedback } from './public/feedback/routes.ts';
import { registerKnowledgeBlog } from './public/knowledge-blog/routes.ts';
import { registerBatchChecks } from './public/label-pages/batch-checks.ts';
import { type LabelPagesContext, labelPageSender, registerLabelPages } from './public/label-pages/pages.ts';
import { registerLabelRequests } from './public/label-requests/routes.ts';
import { recordKinds as records } from './record-kinds.ts';
import { createTraceServer } from './server.ts';
import { registerStockOrders } from './supply-chain/stock-orders/routes.ts';
import { keyHolders, ownRegistry } from './user-registry.ts';

/** PostgreSQL's schema of the trace backend. */
export const SCHEMA = 'trace_backend';

/** Timeout of an export of personal data while it waits for the database's next rows. */
const EXPORT_DEADLINE = { ms: 10 * 60_000, of: 'silence' } as const;

/** Maximum connections of a process of the trace backend; docs/operations.md has the formula. */
export function traceConnections({ DATABASE_POOL }: Pick<Settings, 'DATABASE_POOL'>): number {
  // Exports also read the packet service's data over separate connections.
  return DATABASE_POOL + JOB_CONNECTIONS + 2 * EXPORTS;
}

const TABLES = serviceTables(SCHEMA, new URL('./migrations/', import.meta.url), JOBS_SCHEMA, QUEUES);
/** The functions with which commands check and migrate the tables. */
export const { lacks: traceBackendLacks, migrate: migrateTraceBackend, moved: MOVED } = TABLES;

/**
 * Prepares a trace backend over a migrated database: encrypts secrets with the current SECRETS_KEY and creates the
 * first administrator.
 *
 * @throws SettingsError
 */
export async function prepareTraceBackend(
  settings: Settings,
  connection: Connection,
  logger: FastifyBaseLogger,
): Promise<void> {
  const pool = openPool(connection, SCHEMA, 1);
  try {
    const box = secretBox(settings);
    await sealSecrets(pool, box);
    await sealFactors(pool, box);
    await makeFirstAdmin(pool, settings, logger);
    await addIsoCurrencies(pool);
  } finally {
    await pool.end();
  }
}

/**
 * The trace backend over a migrated database, ready to listen. Closing it answers what is in flight and closes its
 * connections.
 *
 * @param packetServiceData the personal data of the same users in the packet service
 * @param process the backups of this process, and the URL of its console
 * @throws SettingsError
 */
export async function traceBackend(
  settings: Settings,
  connection: Connection,
  logger: FastifyBaseLogger,
  packetServiceData?: PersonalData,
  { backups, consoleUrl = () => undefined }: ProcessContext = {},
): Promise<{ app: Server; registry: UserRegistry; instanceName: () => Promise<string | undefined> }> {
  const counts = addressCounts();
  const app = await createTraceServer(settings, logger, counts);
  const metrics = registerMetrics(app, 'trace-backend', settings);
  const watch = watchPools(metrics, logger, settings);
  const condition = databaseCondition(logger);
  const { pool, exports } = openPools(connection, settings, { onRefusal: condition.refused, watch });
  const { slots, stop: stopLimits } = openLimits(counts, pool, logger);
  const box = secretBox(settings);
  const keys = await openKeys(pool, box, settings);
  checkOrigins(app, settings);
  const requirement = secondFactorRequirement(settings);
  const findSession = sessionFinder(pool);
  const findKey = keyFinder(pool, logger);
  await authenticate(app, {
    pool,
    check: keys.check,
    findSession,
    findKey,
    cookieName: ACCESS_COOKIE,
    mustProveFactor: requirement.isUnmet,
  });

  const sending = { connection, pool, schema: JOBS_SCHEMA, logger, watch: watch('jobs') };
  const outbox = openOutbox<MailJob>(settings, sending);
  const publicUrl = () => (settings.TRACE_PUBLIC_URL ?? listeningUrl(app)).replace(/\/+$/, '');
  const mailing = { pool, outbox, publicUrl, consoleUrl, ...mailContents(pool), logger };
  const mails = openMails({ ...mailing, onGivenUp: countGivenUp(metrics) }, settings);
  const files = openFileStore(settings);
  const makeRendition = renditionMaker();
  const renditionOf = renditions(files, makeRendition);
  const endings = openEndings();
  const lists = openLists();
  readBodies(app);
  const health = registerHealth(app, 'trace-backend', { condition, metrics });
  registerBackupStatus({ health, metrics }, settings, backups);
  const passwords = openPasswords();
  const personal = { pool, slots, passwords, exports, files, mailer: outbox.mailer, packetServiceData };
  const findKeyHolder = keyHolders(findKey, requirement);
  const users = { box, keys, settings, mails, outbox, lists, requirement, endings, findKeyHolder };
  registerAccounts(app, { ...personal, ...users });
  const stopHourly = expireHourly(personal, logger);
  registerAudit(app, { pool, lists, findUsers, searchUserIds });
  registerOperation(app, {
    pool,
    settings,
    metrics,
    jobs: JOBS_SCHEMA,
    countFailedMails: failedMails.countDead,
    backups,
  });
  registerImages(app, { pool, files, makeRendition, renditionOf, records, slots }, settings);
  registerCompanies(app, { pool, lists, mails, records, passwords });
  registerCatalogue(app, { pool, lists });
  const stopCounting = registerProductsAndLabels(app, { pool, lists, files, renditionOf, publicUrl }, logger);
  const currencies = openCurrency(app, settings, pool, watchBreakers(metrics, logger));
  registerCurrency(app, { pool, currencies, files, slots }, settings);
  measureJobs(app, metrics, pool, JOBS_SCHEMA);
  watchReceivers(app, settings, { health, pool, schema: JOBS_SCHEMA, queues: QUEUES });
  app.addHook('onListen', async () => {
    outbox.start();
    condition.start({ read: () => readSomething(pool), write: probeAudit(pool) });
  });
  app.addHook('onClose', async () => {
    condition.stop();
    for (const stop of stopHourly) stop();
    await Promise.all([stopCounting(), outbox.stop(), stopLimits()]);
    await Promise.all([pool.end(), exports.end()]);
  });
  return { app, registry: ownRegistry({ pool, findSession, ...users }), instanceName: mailing.instanceName };
}

/** Starts the hourly erasures and removals; returns the functions that stop them. */
const expireHourly = (context: ErasureContext, logger: FastifyBaseLogger) => [
  eraseHourly(context, logger),
  expireInvitationsHourly(context.pool, logger),
  expireFailedMailsHourly(context.pool, logger),
];

/** The limits of callers and addresses, which are counted in the database. */
function openLimits(
  counts: AddressCounts,
  pool: pg.Pool,
  logger: FastifyBaseLogger,
): { slots: CallerSlots; stop: () => Promise<void> } {
  counts.countIn(pool);
  const slots = openCallerSlots(pool, logger);
  const remove = () => removeOldCounts(pool);
  const stopRemoving = hourly('old counts of addresses could not be removed', logger, remove);
  const stop = () => {
    stopRemoving();
    return slots.stop();
  };
  return { slots, stop };
}

/** Products, labels, and the pages and forms of consumers; returns a function to call before the pool ends. */
function registerProductsAndLabels(
  app: Server,
  context: Omit<LabelPagesContext, 'counts'> & { lists: Lists },
  logger: FastifyBaseLogger,
): () => Promise<void> {
  const counts = openLabelCounts(context.pool, logger);
  const featureContext = { ...context, records, counts, showLabel: labelPageSender(context) };
  registerProducts(app, featureContext);
  registerFinalProducts(app, featureContext);
  registerKnowledgeBlog(app, featureContext);
  registerLabels(app, featureContext);
  registerLabelPages(app, featureContext);
  registerBatches(app, featureContext);
  registerBatchChecks(app, featureContext);
  registerLabelDocuments(app, featureContext);
  registerFeedback(app, featureContext);
  registerStockOrders(app);
  registerLabelRequests(app, featureContext);
  return counts.stop;
}

/** The pools of requests and of exports. */
function openPools(
  connection: Connection,
  { DATABASE_POOL }: Pick<Settings, 'DATABASE_POOL'>,
  { onRefusal, watch }: Required<Pick<PoolOptions, 'onRefusal'>> & { watch: WatchPool },
): { pool: pg.Pool; exports: pg.Pool } {
  return {
    pool: openPool(connection, SCHEMA, DATABASE_POOL, {
      pipeline: true,
      onRefusal,
      watch: watch('requests'),
    }),
    exports: openPool(connection, SCHEMA, EXPORTS, { deadline: EXPORT_DEADLINE, watch: watch('exports') }),
  };
}

/** Probes whether the audit can be written to, which every change does. */
const probeAudit = (pool: pg.Pool) => (space: boolean) => checkWrites(pool, 'audit', space);

/** Reads the contents of mails from other features. */
const mailContents = (pool: pg.Pool): MailContents => ({
  emailChange: shareEmailChange,
  instanceName: () => findInstanceName(pool),
  invitation: (userId, companyId) => invitationMail(pool, userId, companyId),
  addressInvitation: id => addressMail(pool, id),
});

/** Counts mails that used up their attempts or were refused for good, as a metric. */
function countGivenUp(registry: Registry): () => void {
  const help = 'mails that could not be delivered and are given up';
  const counter = new Counter({ name: 'mails_given_up_total', help, registers: [registry] });
  return () => counter.inc();
}

/** Data that administrators maintain for everyone: code lists, value chains and settings. */
function registerCatalogue(app: Server, { pool, lists }: { pool: pg.Pool; lists: Lists }): void {
  registerCountries(app);
  registerGlobalSettings(app, { pool });
  registerCodes(app, {
    pool,
    lists,
    findUses: async (database, list, id) => [
      ...(await findCodeUses(database, list, id)),
      ...(list === CODE_LISTS.measureUnitTypes ? await findFinalProductUses(database, id) : []),
    ],
  });
  registerValueChains(app, {
    pool,
    lists,
    findUses: findValueChainUses,
    findCompanyNames,
    checkCompany: (caller, companyId) => readableCompany(pool, caller, companyId),
  });
}

interface Accounts extends ExportContext, ErasureContext {
  pool: pg.Pool;
  slots: CallerSlots;
  box: SecretBox;
  keys: Keys;
  settings: Settings;
  mails: Mails;
  outbox: Outbox<MailJob>;
  lists: Lists;
  requirement: Requirement;
  endings: Endings;
  findKeyHolder: UserRegistry['findKeyHolder'];
}

/** Users, logins and administration. */
function registerAccounts(app: Server, accounts: Accounts): void {
  const { pool, box, keys, settings } = accounts;
  const companiesOf = (userId: number) => findCompanyIds(pool, userId);
  const colleaguesOf = (userId: number) => findColleagueIds(pool, userId);
  const cookies = sessionCookies(settings);
  const sessions = openSessions(accounts);
  const context = { ...accounts, cookies, sessions, companiesOf, colleaguesOf, leaveAccepted };
  registerUsers(app, context);
  registerSessions(app, context);
  registerSecondFactor(app, context);
  registerEmailChange(app, context);
  registerAdministration(app, context);
  registerPersonalData(app, context);
  const isServiceToken = serviceTokenCheck({ pool, box, settings });
  registerFailedMails(app, { ...accounts, invitedAddresses: findAddressesOf });
  registerDiscoverability(app, { pool, keys, isServiceToken });
  registerApiKeys(app, { ...accounts, isServiceToken });
}
