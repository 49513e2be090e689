import { forbidden, invalid, notFound } from './reason.ts';

/** The reasons of commands, which no client meets over HTTP. */
export const commandReasons = {
  'command.not_a_key': invalid('this is not an API key: keys are ft_ followed by 49 letters and digits'),
  'command.unknown_key': notFound(
    'key not found: it was revoked or has expired',
    'Check the key. Nothing is left to revoke.',
  ),
  'command.unknown_address': notFound('no user has this address', 'Check the address.'),
  'command.unknown_user': notFound('the trace backend has no user {id}', 'Check the id of the user.'),
  'command.service_not_named': invalid(
    'the two services have different users, because USER_REGISTRY_* names a registry: add --service packet or --service trace',
  ),
  'command.wrong_service': invalid('--service must be packet or trace'),
  'command.no_packet_service': notFound(
    'this database has no tables of the packet service',
    'Check DATABASE_URL, and start the packet service once.',
  ),
  'command.nothing_to_verify': invalid('nothing to verify: the database is empty', 'Check DATABASE_URL.'),
  'command.database_too_old': invalid(
    'the database is older than this version and lacks {names}: start the services once to upgrade it',
    'Start the services once, then repeat the command.',
  ),
  'command.not_a_notification': invalid('--id must be a notification_id; {id} is not one'),
  'command.no_tables_of_1': notFound(
    'the database has no tables of version 1.0: start the services once to upgrade it',
    'Start the services once, then repeat the command.',
  ),
  'closing.not_owner': forbidden(
    'only the role that owns the tables can close threads: set DATABASE_OWNER_URL',
    'The operator sets DATABASE_OWNER_URL.',
  ),
  'erasure.wrong_reason_length': invalid('the reason must have 1 to {max} characters'),
  'erasure.not_owner': forbidden(
    'only the role that owns the tables can erase packets: set DATABASE_OWNER_URL',
    'The operator sets DATABASE_OWNER_URL.',
  ),
};
