#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { SCHEMA as PACKET_SCHEMA } from './packet-service/app.ts';
import { replayNotifications } from './packet-service/notifications/replay.ts';
import { type Connection, openPool } from './platform/database.ts';
import { EmbeddedPostgresError } from './platform/embedded-postgres/index.ts';
import { openDatabase } from './platform/open-database.ts';
import { Problem } from './platform/problems.ts';
import { readSettings, type Settings, SettingsError } from './platform/settings.ts';

/** What the operator typed cannot be done; the message says what can. */
class UsageError extends Error {}

interface Command {
  /** as typed, without `fieldtrace` */
  usage: string;
  does: string;
  options: Record<string, { type: 'string' | 'boolean' }>;
  /** @returns what to print */
  run: (context: {
    connection: Connection;
    settings: Settings;
    logger: pino.Logger;
    options: Record<string, string | boolean | undefined>;
  }) => Promise<string>;
}

const commands: Record<string, Command> = {
  'notifications replay': {
    usage: 'notifications replay [--id <notification_id>]',
    does: 'delivers again what was given up: every such notification, or one',
    options: { id: { type: 'string' } },
    async run({ connection, settings, logger, options }) {
      const pool = openPool(connection, PACKET_SCHEMA, 2);
      try {
        const id = options.id as string | undefined;
        return await replayNotifications({ connection, pool }, settings, logger, id);
      } finally {
        await pool.end();
      }
    },
  },
};

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (words.length === 0 || words.includes('--help')) {
    console.log(help());
    return;
  }
  const [command, rest] = findCommand(words);
  const options = readOptions(command, rest);
  const settings = readSettings(process.env);
  // Standard output is for what the command has to say, and nobody asked for the rest.
  const level = process.env.LOG_LEVEL ? settings.LOG_LEVEL : 'warn';
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
  const database = await openDatabase(settings, logger);
  try {
    console.log(await command.run({ connection: database.connection, settings, logger, options }));
  } finally {
    await database.stop();
  }
}

function findCommand(words: string[]): [Command, string[]] {
  for (const [name, command] of Object.entries(commands)) {
    const length = name.split(' ').length;
    if (words.slice(0, length).join(' ') === name) return [command, words.slice(length)];
  }
  throw new UsageError(`there is no command ${words.join(' ')}\n\n${help()}`);
}

function readOptions({ usage, options }: Command, args: string[]) {
  try {
    return parseArgs({ args, options }).values as Record<string, string | boolean | undefined>;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nusage: fieldtrace ${usage}`);
  }
}

function help(): string {
  const lines = Object.values(commands).map(({ usage, does }) => `  fieldtrace ${usage}\n      ${does}`);
  return `usage:\n${lines.join('\n')}\n\nIt works on the database that the same settings start the services with.`;
}

main().catch((error: Error) => {
  const expected = [UsageError, Problem, SettingsError, EmbeddedPostgresError].some(
    kind => error instanceof kind,
  );
  console.error(`fieldtrace: ${expected || 'code' in error ? error.message : error.stack}`);
  process.exitCode = 1;
});
