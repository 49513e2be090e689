import type pg from 'pg';
import { transaction } from '../../../../platform/database/database.ts';
import { optionalBody } from '../../../../platform/http/optional-body.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Server } from '../../../../platform/http/server.ts';
import { namedUser } from '../../../core/access/caller.ts';
import { readKey, runIdempotent, sendIdempotentAnswer } from '../../../core/idempotency/idempotency.ts';
import { confirmContact, type DirectoryEffects, putOpenEntry, putOwnEntry } from './entry.ts';
import { registerLandingPage } from './landing.ts';
import { confirmSchema, deleteEntrySchema, getEntrySchema, putEntrySchema } from './schemas.ts';
import { deleteEntry, type Entry, findEntry } from './store.ts';

/**
 * The built-in directory of the contacts by which users can be found.
 *
 * @param wake called after a change, so that its mails are sent at once
 */
export function registerDirectory(
  app: Server,
  { pool, effects, wake }: { pool: pg.Pool; effects: DirectoryEffects; wake: () => void },
): void {
  app.put('/directory/users/:user_id', { schema: putEntrySchema }, async request => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    const put = request.user === undefined ? putOpenEntry : putOwnEntry;
    const { anonymous } = request;
    const entry = await transaction(pool, database =>
      put(database, effects, { userId, anonymous, ...request.body }, new Date()),
    );
    wake();
    return asItem(entry);
  });

  app.get('/directory/users/:user_id', { schema: getEntrySchema }, async request => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    const entry = await findEntry(pool, userId);
    if (!entry) throw new Problem('not_found', `${userId} is not in the directory`);
    return asItem(entry);
  });

  app.delete('/directory/users/:user_id', { schema: deleteEntrySchema }, async (request, reply) => {
    const userId = await namedUser(request, 'user_id', request.params.user_id);
    await transaction(pool, database => deleteEntry(database, userId));
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
          { userId, anonymous: request.anonymous },
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

function asItem({ userId, discoverable, contacts }: Entry) {
  return {
    user_id: userId,
    contacts: contacts.map(({ contact }) => contact),
    discoverable,
    unconfirmed: contacts.filter(({ confirmed }) => !confirmed).map(({ contact }) => contact),
  };
}
