import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Backups } from '../platform/backup/backups.ts';
import { registerBackupStatus } from '../platform/backup/register-status.ts';
import { type Pace, pacer } from '../platform/concurrency/pacer.ts';
import { isDistributed } from '../platform/database/citus/is-distributed.ts';
import { type Condition, databaseCondition } from '../platform/database/condition.ts';
import { type Connection, readSomething } from '../platform/database/database.ts';
import { type AdmitDownload, admitDownloads } from '../platform/http/downloads.ts';
import { registerHealth } from '../platform/http/health.ts';
import { createServer } from '../platform/http/pipeline/create-server.ts';
import type { Server } from '../platform/http/server.ts';
import { type CallerSlots, openCallerSlots } from '../platform/limits/caller-slots.ts';
import { type WatchPool, watchPools } from '../platform/metrics/databases.ts';
import { registerMetrics } from '../platform/metrics/metrics.ts';
import { watchReceivers } from '../platform/metrics/receivers.ts';
import { watchBreakers } from '../platform/outbound/breaker-watch.ts';
import type { ProcessContext } from '../platform/service/process-context.ts';
import { serviceTables } from '../platform/service/tables.ts';
import type { Settings } from '../platform/settings/settings.ts';
import type { UserRegistry } from '../platform/tokens/user-registry.ts';
import { VERSION } from '../platform/version.ts';
import { findReadable } from './collaboration/chat/messages/visible-store.ts';
import { registerChat } from './collaboration/chat/routes.ts';
import { wordAdder } from './collaboration/chat/search/dictionary.ts';
import { pendingList } from './collaboration/chat/search/pending-list.ts';
import { findParticipants } from './collaboration/chat/threads/participants-store.ts';
import { findOpeners, findThreadIds, isParticipant } from './collaboration/chat/threads/store.ts';
import { threadCheck } from './collaboration/chat/threads/thread-check.ts';
import { findWriters } from './collaboration/chat/threads/writers.ts';
import { type FindKnownNames, knownNames } from './collaboration/people/known-names.ts';
import { registerPeople } from './collaboration/people/routes.ts';
import { registryLookup } from './collaboration/sharing/directory/discoverability.ts';
import type { DirectoryEffects } from './collaboration/sharing/directory/entry.ts';
import { registryReaders } from './collaboration/sharing/directory/mail-readers.ts';
import { registerDirectory } from './collaboration/sharing/directory/routes.ts';
import { registryNames, senderNames } from './collaboration/sharing/directory/sender-names.ts';
import { unconfirmContacts } from './collaboration/sharing/directory/store.ts';
import { JOBS_SCHEMA, QUEUES } from './collaboration/sharing/notifications/channels.ts';
import type { Notifier } from './collaboration/sharing/notifications/notifier.ts';
import { openNotifications } from './collaboration/sharing/notifications/open-notifications.ts';
import { registerNotifications } from './collaboration/sharing/notifications/routes.ts';
import { registerShares, type Sharing } from './collaboration/sharing/shares/routes.ts';
import { turnIntoShares } from './collaboration/sharing/shares/share.ts';
import {
  findSharers,
  findUnanswered,
  insertInvitationToken,
  isSharedWith,
} from './collaboration/sharing/shares/store.ts';
import { authenticate } from './core/access/authentication.ts';
import { keepPersonalDataOutOfCaches } from './core/access/personal.ts';
import { type AskRegistry, registryClient } from './core/access/registry-client.ts';
import { packetVisibility, type Visibility } from './core/access/visibility.ts';
import { EXAMPLE_IDS, errors } from './core/contract/schemas.ts';
import { makeResolver } from './core/geoids/resolver.ts';
import { registerFields } from './core/geoids/routes.ts';
import { namesOfFields } from './core/geoids/store.ts';
import { openSurveyor, type Surveyor } from './core/geoids/surveyor.ts';
import { refuseWithAssetRegistry } from './core/geoids/with-asset-registry.ts';
import { forgetKeysHourly } from './core/idempotency/retention.ts';
import { type Broadcast, broadcast } from './core/log/broadcast.ts';
import { clockWatch } from './core/log/clock-watch.ts';
import { sequencer } from './core/log/sequencer.ts';
import { MAX_PACKET_BYTES } from './core/packet-format/packet.ts';
import { packetReader } from './core/packets/reader.ts';
import { registerPackets } from './core/packets/routes.ts';
import { closePools, EXPORTS_WITHOUT_TOKEN, openPools, type Pools, SCHEMA, WRITERS } from './core/pools.ts';
import { openReading, type Reading } from './core/replicas/open-replicas.ts';
import type { ChooseReads } from './core/replicas/reads.ts';
import { probeWrites } from './core/writer/batch-writer.ts';
import { ALWAYS_COMPLETE, brokenCommits, type UntilComplete } from './core/writer/broken-commits.ts';
import { openWriter } from './core/writer/open-writer.ts';
import { registerAttachments } from './intake/attachments/routes.ts';
import { registerIntake } from './intake/routes.ts';
import { type AdministrationContext, registerAdministration } from './maintenance/administration/routes.ts';
import { registerVerify } from './maintenance/verify/routes.ts';
import { measureBatches, measurePacketService } from './metrics.ts';
import { openFeeds } from './reading/feed/feeds.ts';
import { registerEvents } from './reading/feed/routes.ts';
import { registerGraph } from './reading/graph/routes.ts';
import { registerStartPage } from './reading/start-page/routes.ts';
import { registerSync } from './reading/sync/routes.ts';
import { type NamesFor, registerTables } from './reading/tables/routes.ts';
import { countFields, uncountField } from './reading/tiles/counts.ts';
import { type TileFollower, tileFollower } from './reading/tiles/follower.ts';
import { registerTiles } from './reading/tiles/routes.ts';
import { stopWith } from './stop-with.ts';

/** Maximum requests of one client address per minute; many phones share one address behind carrier NAT. */
const PER_MINUTE = 12_000;
/** Bytes a second that the client of an export reads at least, on average over so much time in which something waits. */
const MIN_EXPORT_BYTES_PER_SECOND = 64 * 1024;
const EXPORT_SPEED_SECONDS = 60;
/** Approximate microseconds of work on large bodies and boundaries per turn of the event loop. */
const WORK_PER_TURN = 20_000;

const TABLES = serviceTables(SCHEMA, new URL('./migrations/', import.meta.url), JOBS_SCHEMA, QUEUES);
/** Operations of commands on the tables. */
export const { lacks: packetServiceLacks, migrate: migratePacketService, moved: MOVED } = TABLES;

/**
 * The packet service over a migrated database, ready to listen. Closing it answers what is in flight, writes what
 * waits, and closes its connections.
 *
 * @param registry the user registry, unless the settings name another
 * @param context the backups of this process, and its console
 */
export async function packetService(
  settings: Settings,
  connection: Connection,
  logger: FastifyBaseLogger,
  registry?: UserRegistry,
  { backups, consoleUrl = () => undefined, instanceName = async () => undefined }: ProcessContext = {},
): Promise<Server> {
  const app = await makeServer(settings, logger);
  const metrics = registerMetrics(app, 'packet-service', settings);
  const [watch, breakers] = [watchPools(metrics, logger, settings), watchBreakers(metrics, logger)];
  const condition = databaseCondition(logger);
  const opening = { connection, condition, watch, logger };
  const { pools, untilComplete } = await openConnections(app, settings, opening);
  const { pool, logPool } = pools;
  const { reads, ...reading } = openReading(app, settings, { pools, metrics, logger });
  const [addWords, pending] = [wordAdder(pool), pendingList(pool, logger)];
  const news = broadcast(pool, logger, findParticipants);
  const writer = openWriter(pools.writerPool, {
    connections: WRITERS,
    logger,
    watch: { ...measureBatches(metrics, settings), committed: reading.positions?.note },
    onWritten({ event }) {
      log.wake();
      if (event.kind === 'chat.message') pending.grew();
    },
    untilComplete,
  });
  const pace = pacer(WORK_PER_TURN);
  const surveyor = openSurveyor(pace);
  const resolver = makeResolver(settings, { pool, pace, surveyor, breakers });
  const [checkThread, slots] = [threadCheck(pool), openCallerSlots(pool, logger)];
  const visibility = packetVisibility(pool, { isParticipant, findThreadIds, isSharedWith });
  const readPacket = packetReader(pool, visibility);
  const clock = clockWatch(logger, metrics);
  const listeners = { news, clock, onErased: addWords.forget, findVisible: findReadable };
  const log = sequencer(logPool, listeners, logger);
  const askOfKeys = registryClient(settings, 'the user registry', breakers);
  const askOfContacts = registryClient(settings, 'the look-up of contacts in the user registry', breakers);
  const lookUps = registryLookUps({ pool, logger, registry, ask: askOfContacts });
  const sources = {
    connection,
    pool,
    consoleUrl,
    instanceName,
    findSenderNames: lookUps.findSenderNames,
    keepInvitationToken: insertInvitationToken,
    findUnanswered,
    findReader: registryReaders(registry, logger),
  };
  const { notifier, replay, stop: stopNotifying } = openNotifications(app, settings, sources, watch('jobs'));

  keepPersonalDataOutOfCaches(app);
  const gate = { settings, pool, registry, ask: askOfKeys, breakers, onFirstToken: unconfirmContacts };
  const { tokenUsers, refusalOf, checksTokens } = authenticate(app, gate);
  const feeds = openFeeds({ pool, news, logger, registry, refusalOf, isTokenUser: tokenUsers.has });
  const details = [clock.detail, ...reading.details];
  registerConditions(app, settings, { pool, condition, metrics, backups, details });
  registerIntake(app, { pool, writer, resolver, checkThread, addWords, pace, untilComplete });
  registerPackets(app, { reads, readPacket, visibility });
  registerVerify(app, { pool, readPacket });
  registerAttachments(app, { pool, settings, readPacket, slots });
  registerChat(app, { pool, checkThread, reads, findNames: registryNames(registry, logger), untilComplete });
  registerSharing(app, settings, { pool, notifier, replay, metrics, registry, readPacket, ...lookUps });
  registerEvents(app, { feeds, settings, slots });
  const admit = admitExports(app, { slots, checksTokens });
  registerDownloads(app, settings, { pool, reads, news, visibility, metrics, slots, admit, ...lookUps });
  const tiles = registerMaps(app, settings, { pool, reads, pace, surveyor, news, logger, admit });
  measurePacketService(app, metrics, { pool, writer, log, news, feeds, tiles });

  app.addHook('onListen', async () => {
    log.start();
    tiles.start();
    condition.start({ read: () => readSomething(pool), write: space => probeWrites(writer, pool, space) });
  });
  const stopForgetting = forgetKeysHourly(pool, logger);
  stopWith(app, {
    listeners: [feeds.stop, news.stop],
    work: [condition.stop, stopForgetting, stopNotifying, writer.drain, surveyor.close, tiles.stop],
    log: [log.stop, pending.stop, reading.stop, () => slots.stop()],
    connections: () => closePools(pools),
  });
  return app;
}

/** The connections; on a cluster answers wait for commits that broke on a worker. */
async function openConnections(
  app: Server,
  settings: Settings,
  {
    connection,
    condition,
    watch,
    logger,
  }: { connection: Connection; condition: Condition; watch: WatchPool; logger: FastifyBaseLogger },
): Promise<{ pools: Pools; untilComplete: UntilComplete }> {
  const commits = brokenCommits(() => pools.pool, logger);
  const { onNotice } = commits;
  const pools = openPools(connection, settings, { onRefusal: condition.refused, onNotice, watch });
  // Every hook costs each request; services do not run while their tables are distributed.
  const isCluster = await isDistributed(pools.pool, 'packets').catch(() => true);
  if (isCluster) commits.holdAnswers(app);
  return { pools, untilComplete: isCluster ? commits.untilComplete : ALWAYS_COMPLETE };
}

/** Health, with what this service knows in addition to the state of the database. */
function registerConditions(
  app: Server,
  settings: Settings,
  parts: {
    pool: pg.Pool;
    condition: Condition;
    metrics: Registry;
    backups: Backups | undefined;
    details: Reading['details'];
  },
): void {
  const { pool, metrics, backups, details } = parts;
  const health = registerHealth(app, 'packet-service', parts);
  for (const detail of details) health.addDetail(detail);
  registerBackupStatus({ health, metrics }, settings, backups);
  watchReceivers(app, settings, { health, pool, schema: JOBS_SCHEMA, queues: QUEUES });
}

/** Sync, and exports: the graph and tables. */
function registerDownloads(
  app: Server,
  settings: Settings,
  context: {
    pool: pg.Pool;
    reads: ChooseReads;
    visibility: Visibility;
    news: Broadcast;
    metrics: Registry;
    slots: CallerSlots;
    admit: AdmitDownload;
    findKnownNames: FindKnownNames;
  },
): void {
  registerSync(app, { ...context, settings });
  registerGraph(app, context);
  registerTables(app, { ...context, namesFor: tableNames(settings, context) });
}

/** Admits exports: the graph, tables, and the file of all fields share their limits. */
function admitExports(
  app: Server,
  { slots, checksTokens }: { slots: CallerSlots; checksTokens: boolean },
): AdmitDownload {
  return admitDownloads(app, slots, {
    perCaller: 1,
    what: 'exports',
    retryAfter: 10,
    withoutToken: checksTokens ? EXPORTS_WITHOUT_TOKEN : undefined,
    slowest: { bytesPerSecond: MIN_EXPORT_BYTES_PER_SECOND, seconds: EXPORT_SPEED_SECONDS },
  });
}

/** Names of fields, where they are registered here, and of the authors whom a caller may know. */
function tableNames(
  { ASSET_REGISTRY_URL }: Settings,
  { pool, findKnownNames }: { pool: pg.Pool; findKnownNames: FindKnownNames },
): NamesFor {
  const findFieldNames = async (geoids: readonly string[]) => {
    const fields = ASSET_REGISTRY_URL === undefined ? await namesOfFields(pool, geoids) : [];
    return new Map(fields.map(({ geoid, name }) => [geoid, name]));
  };
  return request => ({ field_name: findFieldNames, author_name: ids => findKnownNames(request, ids) });
}

/** Fields, and the tiles of maps, which count them; returns what counts observations. */
function registerMaps(
  app: Server,
  settings: Settings,
  { pool, reads, pace, surveyor, news, logger, admit }: Maps,
): TileFollower {
  const watch = { registered: countFields, deleted: uncountField };
  registerFields(app, { pool, settings, pace, surveyor, watch, reads, admit });
  registerTiles(app, { reads, pace, refuseFields: refuseWithAssetRegistry(settings) });
  return tileFollower(pool, news, logger);
}

/** Dependencies of maps. */
interface Maps {
  pool: pg.Pool;
  reads: ChooseReads;
  pace: Pace;
  surveyor: Surveyor;
  news: Broadcast;
  logger: FastifyBaseLogger;
  admit: AdmitDownload;
}

/** The functions of the user registry that the service uses. */
function registryLookUps({
  pool,
  logger,
  registry,
  ask,
}: {
  pool: pg.Pool;
  logger: FastifyBaseLogger;
  registry: UserRegistry | undefined;
  ask: AskRegistry | undefined;
}): Pick<Sharing, 'lookUpHolder' | 'findSenderNames'> & { findKnownNames: FindKnownNames } {
  const findNames = registryNames(registry, logger);
  return {
    lookUpHolder: registryLookup(ask, logger, registry),
    findSenderNames: senderNames(findNames),
    findKnownNames: knownNames({ pool, registry, findNames, findSharers, findOpeners, findWriters }),
  };
}

/** Sharing: shares, the directory, notifications, and what administrators see of them. */
function registerSharing(
  app: Server,
  { RATE_LIMIT }: Settings,
  {
    replay,
    metrics,
    registry,
    findKnownNames,
    ...sharing
  }: Omit<Sharing, 'limitsContacts'> &
    Pick<AdministrationContext, 'replay' | 'metrics' | 'registry'> & { findKnownNames: FindKnownNames },
): void {
  const { pool, notifier } = sharing;
  const limitsContacts = RATE_LIMIT === 'on';
  registerShares(app, { limitsContacts, ...sharing });
  const { lookUpHolder } = sharing;
  const directory = { pool, lookUpHolder, limitsContacts, wake: notifier.wake };
  registerDirectory(app, { ...directory, effects: directoryEffects(notifier) });
  registerPeople(app, { findKnownNames });
  registerNotifications(app, { pool });
  registerAdministration(app, { pool, metrics, jobsSchema: JOBS_SCHEMA, replay, registry });
}

/** Earlier invitations to a user who has become discoverable become shares. */
function directoryEffects(notifier: Notifier): DirectoryEffects {
  return {
    async onDiscoverable(database, user, now) {
      await turnIntoShares(database, notifier, user, now);
    },
    requestConfirmation: notifier.requestConfirmation,
  };
}

async function makeServer(settings: Settings, logger: FastifyBaseLogger): Promise<Server> {
  const app = await createServer({
    title: 'fieldtrace packet service',
    description: 'Field observations and chat messages as immutable, hashed packets, each tied to a GeoID.',
    version: VERSION,
    documented: true,
    definitionPath: '/openapi.json',
    pagePath: '/docs',
    tags: [
      { name: 'Intake', description: 'observations and messages' },
      { name: 'Packets', description: 'stored packets' },
      { name: 'Attachments', description: 'files of packets' },
      { name: 'Chat', description: 'threads, messages and search' },
      { name: 'Shares', description: 'sharing packets with users, and invitations' },
      { name: 'Directory', description: 'contacts that users can be found by' },
      { name: 'Notifications', description: 'notifications and their delivery' },
      { name: 'Events', description: 'the live feed' },
      { name: 'Graph', description: 'export as triples' },
      { name: 'Sync', description: 'the log, for clients that keep a copy' },
      { name: 'GeoIDs', description: 'the built-in registry of fields' },
      { name: 'Maps', description: 'vector tiles of observations and fields' },
      { name: 'Administration', description: 'jobs, dead letters and metrics' },
      { name: 'Health', description: 'health and readiness' },
    ],
    examples: [
      { created: '/intake/scouting', at: ['packet_uuid'], example: EXAMPLE_IDS.packet },
      { created: '/chat/threads', at: ['thread_id'], example: EXAMPLE_IDS.thread },
      { created: '/shares', at: ['share_id'], example: EXAMPLE_IDS.share },
    ],
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          'access token of the user registry, or a key for programs (ft_…). A key needs the scope read for safe methods and searches, write for others',
      },
    },
    errorBody: problem => ({ error: problem.message }),
    refusals: errors,
    challenge: ({ headers }) =>
      headers.authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"',
    everyError: false,
    unknownParameters: 'refused',
    bodyLimit: MAX_PACKET_BYTES,
    publicUrl: settings.PUBLIC_URL,
    perMinute: PER_MINUTE,
    logger,
    settings,
  });
  registerStartPage(app);
  return app;
}
