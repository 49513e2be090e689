import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../../platform/database/database.ts';
import { optionalBody } from '../../../../platform/http/optional-body.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Server } from '../../../../platform/http/server.ts';
import { namedUser } from '../../../core/access/caller.ts';
import { readKey, runIdempotent, sendIdempotentAnswer } from '../../../core/idempotency/idempotency.ts';
import type { LookUpHolder } from './discoverability.ts';
import {
  confirmContact,
  type DirectoryEffects,
  putOpenEntry,
  putOwnEntry,
  readContacts,
  removeEntry,
} from './entry.ts';
import { registerLandingPage } from './landing.ts';
import { limitClaims } from './rate-limit.ts';
import { confirmSchema, deleteEntrySchema, getEntrySchema, putEntrySchema } from './schemas.ts';
import { type Entry, findEntry } from './store.ts';

/** Dependencies of the directory. */
interface Directory {
  pool: pg.Pool;
  lookUpHolder: LookUpHolder;
  effects: DirectoryEffects;
  /** whether contacts that are entered are limited */
  limitsContacts: boolean;
  /** called after a change, so that its mails are sent at once */
  wake: () => void;
}

/** The built-in directory of the contacts by which users can be found. */
export function registerDirectory(app: Server, directory: Directory): void {
  const { pool, effects, wake } = directory;
  app.put('/directory/users/:user_id', { schema: putEntrySchema }, async request => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    const { discoverable } = request.body;
    const contacts = await lookUp(directory, request, readContacts(request.body.contacts));
    const wish = { userId, contacts, discoverable };
    const { user, anonymous } = request;
    const entry = await transaction(pool, database =>
      user === undefined
        ? putOpenEntry(database, effects, wish, { anonymous, now: new Date() })
        : putOwnEntry(database, effects, wish, new Date()),
    );
    wake();
    return asItem(entry);
  });

  app.get('/directory/users/:user_id', { schema: getEntrySchema }, async request => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    const entry = await findEntry(pool, userId);
    if (!entry) throw new Problem('directory_entry.unknown', { user: userId });
    return asItem(entry);
  });

  app.delete('/directory/users/:user_id', { schema: deleteEntrySchema }, async (request, reply) => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    const { anonymous } = request;
    await transaction(pool, database => removeEntry(database, { userId, anonymous }));
    return reply.code(204).send(null);
  });

  app.post(
    '/directory/confirmations/:token',
    { schema: confirmSchema, ...optionalBody },
    async (request, reply) => {
      const { token } = request.params;
      const userId = await namedUser(request, 'user_id', request.body.user_id);
      const done = await runIdempotent(pool, readKey(request), async database => {
        const entry = await confirmContact(
          database,
          effects,
          token,
          { userId, hasToken: request.user !== undefined, anonymous: request.anonymous },
          new Date(),
        );
        return { status: 200, answer: JSON.stringify(asItem(entry)) };
      });
      wake();
      return sendIdempotentAnswer(reply, done);
    },
  );

  registerLandingPage(app, {
    path: '/directory/confirmations/:token',
    operationId: 'showContactConfirmation',
    tag: 'Directory',
    title: 'Confirm a contact',
    sentence:
      'A user of the field service has entered this address and wants to be found by it. If that is you, confirm it.',
    button: 'Confirm',
    action: '',
    asksForUser: true,
    request: 'POST {"user_id": "…"} to this address.',
  });
}

/**
 * Asks the user registry about contacts. Outside the transaction, because a slow registry must not hold a connection.
 *
 * @throws Problem too_many_requests
 */
async function lookUp(
  { pool, lookUpHolder, limitsContacts }: Directory,
  request: FastifyRequest,
  contacts: readonly string[],
) {
  if (limitsContacts) await transaction(pool, database => limitClaims(database, request, contacts));
  return new Map(
    await Promise.all(contacts.map(async contact => [contact, await lookUpHolder(contact)] as const)),
  );
}

function asItem({ userId, discoverable, contacts }: Entry) {
  return {
    user_id: userId,
    contacts: contacts.map(({ contact }) => contact),
    discoverable,
    unconfirmed: contacts.filter(({ confirmed }) => !confirmed).map(({ contact }) => contact),
  };
}
