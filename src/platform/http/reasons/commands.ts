import { forbidden, invalid, notFound } from './reason.ts';

/** The reasons of commands, which no client meets over HTTP. */
export const commandReasons = {
  'command.not_a_key': invalid('this is no key: ft_ and 49 letters and digits'),
  'command.unknown_key': notFound('there is no such key: it was revoked, or has expired'),
  'command.unknown_address': notFound('there is no user with this address'),
  'command.unknown_user': notFound('the trace backend has no user {id}'),
  'command.service_not_named': invalid(
    'USER_REGISTRY_* names a registry, so the services have different users: say --service packet or --service trace',
  ),
  'command.wrong_service': invalid('--service must be packet or trace'),
  'command.no_packet_service': notFound('the packet service has no tables in this database'),
  'command.nothing_to_verify': invalid('there is nothing to verify: the database is empty'),
  'command.database_too_old': invalid(
    'the database is older than this version and lacks {names}: start the services once',
  ),
  'command.not_a_notification': invalid('--id must be a notification_id, {id} is none'),
  'command.no_tables_of_1': notFound('the database has no tables of 1.0: start the services once'),
  'closing.not_owner': forbidden(
    'only the role that owns the tables can close threads: set DATABASE_OWNER_URL',
  ),
  'erasure.wrong_reason_length': invalid('the reason must have 1 to {max} characters'),
  'erasure.not_owner': forbidden(
    'only the role that owns the tables can erase packets: set DATABASE_OWNER_URL',
  ),
};
