import { totalmem } from 'node:os';

const MB = 2 ** 20;

/**
 * An eighth of the memory, or of the container's limit; most of the rest is the kernel's page cache, which the
 * planner can rely on. A search fetches thousands of rows from all over a table; each costs 2 µs from shared buffers
 * and 15 µs from the page cache. The memory is allocated on use, not at the start.
 */
function memorySettings(): Record<'shared_buffers' | 'effective_cache_size', string> {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / MB;
  const buffers = Math.floor(Math.min(Math.max(memory / 8, 128), 4096));
  return { shared_buffers: `${buffers}MB`, effective_cache_size: `${Math.floor(memory / 2)}MB` };
}

/**
 * How the server is tuned: for one machine with two cores or more, 2 GB of memory or more and a solid-state disk,
 * that takes batches of small rows and must never lose an acknowledged one. They are given on the command line at
 * every start, so that an upgrade of fieldtrace changes them and no file can weaken them. If you need other settings,
 * run a separate server and set DATABASE_URL.
 */
export const serverSettings: Readonly<Record<string, string>> = {
  // Durability: answered writes are on disk. These are the defaults, set here so that no file can change them.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  restart_after_crash: 'on',

  // Only this machine, only through the socket, only accounts that may enter its directory.
  listen_addresses: '',
  unix_socket_permissions: '0700',

  // Two services with a pool each, and room for exports, live feeds and tests.
  max_connections: '100',
  // Reserved for the supervisors if the pools use all other connections.
  superuser_reserved_connections: '5',

  ...memorySettings(),
  // A page of packets or a chat search sorts in memory; a hundred of them at once still fit.
  work_mem: '8MB',
  // Index builds of migrations and vacuum of the inverted indexes.
  maintenance_work_mem: '128MB',
  // Parallel plans take shared memory from /dev/shm, 64 MB in a container, and the second core from requests.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  // No subscriptions: one process fewer.
  max_logical_replication_workers: '0',

  // Checkpoints by time and not by volume, because after each one full page images are written again; at most 2 GB to
  // replay after a crash.
  max_wal_size: '2GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  // lz4 is not built in, and pglz cost 40 % of the write rate and saved nothing.
  wal_compression: 'off',
  // Enough for a physical backup; there is no logical decoding.
  wal_level: 'replica',

  // A solid-state disk reads a random page nearly as fast as the next.
  random_page_cost: '1.1',
  // Compiling never pays for statements of a few milliseconds.
  jit: 'off',

  // The log. Statements and row values are clients' data and are not logged.
  logging_collector: 'off',
  log_destination: 'stderr',
  log_min_messages: 'error',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
  lc_messages: 'C',
  timezone: 'UTC',
  // Shown by ps.
  cluster_name: 'fieldtrace',
};

/**
 * The command line of the server.
 * @param cluster the data directory
 * @param socketDirectory where it makes its socket
 * @param further settings of this server alone
 */
export function serverArguments(
  cluster: string,
  socketDirectory: string,
  further: Readonly<Record<string, string>> = {},
): string[] {
  // A list in SQL's way: quoted, because a path may hold commas and spaces.
  const directories = `"${socketDirectory.replaceAll('"', '""')}"`;
  const settings = { ...serverSettings, ...further, unix_socket_directories: directories };
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
