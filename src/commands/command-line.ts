import { parseArgs } from 'node:util';
import { nearestName } from '../platform/http/nearest.ts';
import type { CommandOptions } from './command-audit.ts';
import { type Command, commands, UsageError } from './commands.ts';

/** A parsed command line. */
export type CommandLine =
  | { print: 'version' }
  | { print: 'help'; command: Command | undefined }
  | { name: string; command: Command; options: CommandOptions };

/**
 * Reads a command line: `--version`, `help [COMMAND]`, `COMMAND --help`, or a command with its options.
 *
 * @param words what follows `fieldtrace`
 * @throws UsageError with one sentence
 */
export function readCommandLine(words: readonly string[]): CommandLine {
  const [first] = words;
  if (first === undefined) return { print: 'help', command: undefined };
  if (first === '--version' || first === '-v' || first === 'version') return { print: 'version' };
  const isHelp = (word: string) => word === '--help' || word === '-h';
  if (first === 'help' || words.some(isHelp)) {
    const named = words.filter(word => !isHelp(word) && word !== 'help' && !word.startsWith('-'));
    return { print: 'help', command: named.length === 0 ? undefined : findCommand(named).command };
  }
  const { name, command, rest } = findCommand(words);
  return { name, command, options: readOptions(name, command, rest) };
}

/** @throws UsageError */
function findCommand(words: readonly string[]): { name: string; command: Command; rest: string[] } {
  const names = Object.keys(commands).sort((a, b) => b.split(' ').length - a.split(' ').length);
  for (const name of names) {
    const length = name.split(' ').length;
    if (words.slice(0, length).join(' ') === name)
      return { name, command: commands[name] as Command, rest: words.slice(length) };
  }
  const first = (words[0] as string).slice(0, 100);
  const begun = names.filter(name => name.startsWith(`${first} `));
  const typed = words.filter(word => !word.startsWith('-'));
  if (begun.length > 0) {
    const wrong =
      typed.length > 1
        ? `unknown command ${typed.slice(0, 2).join(' ').slice(0, 100)}`
        : `${first} is incomplete`;
    throw new UsageError(`${wrong}; the commands are ${begun.join(', ')}`);
  }
  const meant = nearestName(typed.slice(0, 2).join(' '), names) ?? nearestName(first, names);
  const hint = meant === undefined ? 'fieldtrace help lists all commands' : `did you mean ${meant}?`;
  throw new UsageError(`unknown command ${first}; ${hint}`);
}

/** @throws UsageError that names the option */
function readOptions(name: string, command: Command, args: string[]): CommandOptions {
  const { options, operand, needs = [] } = command;
  const refuse = (reason: string) => new UsageError(`${reason}; usage: fieldtrace ${command.usage}`);
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true });
  const parsed: CommandOptions = {};
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (operand === undefined || parsed[operand] !== undefined)
        throw refuse(`${name} does not take ${token.value.slice(0, 100)}`);
      parsed[operand] = token.value;
    }
    if (token.kind !== 'option') continue;
    const type = options[token.name]?.type;
    if (type === undefined) throw refuse(`${name} has no option ${token.rawName.slice(0, 100)}`);
    if (type === 'boolean' && token.value !== undefined) throw refuse(`${token.rawName} takes no value`);
    if (type === 'string' && (token.value ?? '') === '') throw refuse(`${token.rawName} needs a value`);
    if (type === 'string' && !token.inlineValue && token.value?.startsWith('--'))
      throw refuse(`${token.rawName} needs a value`);
    parsed[token.name] = token.value ?? true;
  }
  if (operand !== undefined && (parsed[operand] ?? '') === '') throw refuse(`${operand} is missing`);
  const missing = needs.find(need => parsed[need] === undefined);
  if (missing !== undefined) throw refuse(`--${missing} is missing`);
  return parsed;
}

/** The help about one command, or about all. */
export function helpOf(command: Command | undefined): string {
  if (command !== undefined) return `usage: fieldtrace ${command.usage}\n\n${command.does}`;
  const lines = Object.values(commands).map(({ usage, does }) => `  fieldtrace ${usage}\n      ${does}`);
  return [
    `usage:\n${lines.join('\n')}`,
    '  fieldtrace help [COMMAND]\n      prints this help, or the help for one command\n  fieldtrace --version',
    'Commands use the same settings, and therefore the same database, as the services.',
  ].join('\n');
}
