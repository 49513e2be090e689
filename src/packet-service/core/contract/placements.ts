import type { Placements } from '../../../platform/database/citus/placements.ts';

const LOCAL = { kind: 'local' } as const;
const LOCAL_WITH_SHARDS = { kind: 'local', withShards: true } as const;
const WITH_PACKETS = { kind: 'distributed', by: 'packet_id', with: 'packets' } as const;
const WITH_THREADS = { kind: 'distributed', by: 'thread_id', with: 'chat_threads' } as const;

/**
 * Where each table is when the database is distributed (docs/scale-out.md). Packets and messages, of which there are
 * most, are in shards; what orders, counts or answers for them is on the coordinator, where it costs no second server.
 * No statement reads both groups. Every transaction that writes to shards and to the coordinator writes to the outbox,
 * an idempotency key or the list of erasures. The tables of the trace backend and the job queues are all local.
 */
export const PLACEMENTS: Placements = {
  migrations: LOCAL,
  packets: { kind: 'distributed', by: 'id' },
  packet_geoids: WITH_PACKETS,
  packet_attachments: WITH_PACKETS,
  chat_threads: { kind: 'distributed', by: 'thread_id' },
  chat_participants: WITH_THREADS,
  chat_messages: WITH_THREADS,
  chat_words: LOCAL,
  token_users: LOCAL,
  idempotency_keys: LOCAL_WITH_SHARDS,
  packet_log: LOCAL,
  packet_log_queue: LOCAL_WITH_SHARDS,
  fields: LOCAL,
  field_cells: LOCAL,
  field_state: LOCAL,
  deleted_fields: LOCAL,
  attachments: LOCAL,
  attachment_contents: LOCAL,
  attachment_uploads: LOCAL,
  attachment_claims: LOCAL,
  shares: LOCAL,
  invitation_tokens: LOCAL,
  directory_users: LOCAL,
  directory_contacts: LOCAL,
  directory_confirmations: LOCAL,
  directory_lookups: LOCAL,
  notifications: LOCAL,
  notification_deliveries: LOCAL,
  mail_outcomes: LOCAL,
  tile_cells: LOCAL,
  tile_fields: LOCAL,
  tile_state: LOCAL,
  erasures: LOCAL_WITH_SHARDS,
  serving_processes: LOCAL,
  caller_places: LOCAL,
  file_store: LOCAL,
  audit: LOCAL,
};
