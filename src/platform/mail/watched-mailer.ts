import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../database/database.ts';
import type { Mailer } from './mail.ts';
import { noteMailOutcome } from './outcomes-store.ts';

/**
 * A mailer that records when a mail was last sent, and when and why one was last not. A mail that is only written to a
 * file was not sent.
 */
export function watchedMailer(mailer: Mailer, database: Database, logger: FastifyBaseLogger): Mailer {
  const note = async (...outcome: ['sent'] | ['failed', string]) => {
    const [how, error] = outcome;
    // What became of the mail stands: it must not be sent again because this is not recorded.
    await noteMailOutcome(database, how, new Date(), error).catch(cause =>
      logger.warn({ err: cause }, 'could not record the outcome of sending an email'),
    );
  };
  return {
    ...mailer,
    async send(mail, signal) {
      try {
        await mailer.send(mail, signal);
      } catch (error) {
        // One that was broken off says nothing of the mail server.
        if (!signal.aborted) await note('failed', (error as Error).message);
        throw error;
      }
      if (mailer.hasServer) await note('sent');
    },
  };
}
