import { catalogue } from '../src/platform/http/reasons/catalogue.ts';
import { type Definition, type ProblemCode, problemStatus } from '../src/platform/http/reasons/reason.ts';

/** The remedy for each kind of failure, if the reason has none of its own. */
const REMEDIES: Record<ProblemCode, string> = {
  invalid: 'Correct the value.',
  unreadable: 'Correct the body.',
  unauthenticated: 'Log in, or send a valid token.',
  forbidden: 'Ask somebody who has the permission.',
  not_found: 'Check the id. Records that you cannot see look as if they did not exist.',
  method_not_allowed: 'Use a method listed in Allow.',
  not_acceptable: 'Accept one of these media types.',
  request_timeout: 'Send the request again over a better connection.',
  conflict: 'Read the current state, then decide.',
  gone: 'Nothing: it is gone for good.',
  precondition_failed: 'Read the record again, then repeat the change.',
  too_large: 'Send less.',
  unsupported_media_type: 'Send one of the media types in the definition.',
  range_not_satisfiable: 'Request a range inside the file.',
  misdirected: 'Use the name of the service as the host.',
  too_many_requests: 'Wait the number of seconds in Retry-After.',
  headers_too_large: 'Send fewer or shorter headers.',
  internal: 'Give the operator the X-Request-Id of the response.',
  not_implemented: 'Nothing: this installation does not support it.',
  unavailable: 'Send the same request again after the number of seconds in Retry-After.',
};

/** The tables of all reasons in Markdown, one for each noun, as docs/errors.md ends with them. */
export function reasonTables(): string {
  const all = Object.entries(catalogue as Record<string, Definition>).sort(([first], [second]) =>
    first < second ? -1 : 1,
  );
  const byNoun = Map.groupBy(all, ([reason]) => reason.split('.')[0] as string);
  return [...byNoun]
    .map(([noun, reasons]) =>
      [
        `## ${noun}`,
        '',
        '| reason | status | text | what to do |',
        '|---|---|---|---|',
        ...reasons.map(row),
        '',
      ].join('\n'),
    )
    .join('\n');
}

function row([reason, { code, text, remedy }]: [string, Definition]): string {
  const cells = [`\`${reason}\``, problemStatus[code], shown(text), shown(remedy ?? REMEDIES[code])];
  return `| ${cells.join(' | ')} |`;
}

/** Text in a cell: bars and line breaks would end it, and angle brackets would vanish. */
const shown = (text: string) => text.replaceAll('\n', ' ').replaceAll(/[|<>]/g, '\\$&');
