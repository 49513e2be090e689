import { commandReasons } from './commands.ts';
import { consoleReasons } from './console.ts';
import { geometryReasons } from './geometry.ts';
import { packetReasons } from './packet-service.ts';
import { platformReasons } from './platform.ts';
import { type Definition, fillText, type NamesIn, type ParameterValue } from './reason.ts';
import { traceReasons } from './trace-backend.ts';

/**
 * Why requests fail: every reason of both services, the console and the commands, once. Clients rely on the names, which
 * never change their meaning; the texts may be worded better at any time.
 */
export const catalogue = {
  ...platformReasons,
  ...geometryReasons,
  ...packetReasons,
  ...traceReasons,
  ...consoleReasons,
  ...commandReasons,
} satisfies Record<string, Definition>;

/** The name of a reason, such as `product.owner_cannot_be_removed`. */
export type Reason = keyof typeof catalogue;

/** The parameters of a reason: those in its text, and the field that it is about. */
export type ParametersOf<R extends Reason> = {
  readonly [Name in NamesIn<(typeof catalogue)[R]['text']>]: ParameterValue;
} & { readonly field?: string };

/** A reason with its parameters. What checks return that collect what is wrong. */
export interface Fault {
  readonly reason: Reason;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

/** The arguments that follow the name of a reason: its parameters, if it has any. */
export type Rest<R extends Reason> = [NamesIn<(typeof catalogue)[R]['text']>] extends [never]
  ? [parameters?: ParametersOf<R>]
  : [parameters: ParametersOf<R>];

/** A reason with its parameters. */
export function fault<R extends Reason>(reason: R, ...[parameters]: Rest<R>): Fault {
  return { reason, parameters: (parameters ?? {}) as Fault['parameters'] };
}

/** The sentence of a fault, in English. */
export function textOf({ reason, parameters }: Fault): string {
  return fillText(catalogue[reason].text, parameters);
}
