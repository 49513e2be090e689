import { catalogue } from '../src/platform/http/reasons/catalogue.ts';
import { type Definition, type ProblemCode, problemStatus } from '../src/platform/http/reasons/reason.ts';

/** What to do about each kind of failure, where the reason has nothing more specific. */
const REMEDIES: Record<ProblemCode, string> = {
  invalid: 'Correct the value.',
  unreadable: 'Correct the body.',
  unauthenticated: 'Log in, or send a token that is valid.',
  forbidden: 'Ask somebody who may do it.',
  not_found: 'Check the id. What you may not see looks as if it did not exist.',
  method_not_allowed: 'Use a method that Allow names.',
  not_acceptable: 'Accept one of these media types.',
  request_timeout: 'Send the request again on a better connection.',
  conflict: 'Read the current state, then decide.',
  gone: 'Nothing: it does not come back.',
  precondition_failed: 'Read it again, and make the change once more.',
  too_large: 'Send less.',
  unsupported_media_type: 'Send one of the media types of the definition.',
  range_not_satisfiable: 'Ask for a range inside the file.',
  misdirected: 'Use the name of the service.',
  too_many_requests: 'Wait for the seconds of Retry-After.',
  headers_too_large: 'Send fewer or shorter headers.',
  internal: 'Give the operator the X-Request-Id of the answer.',
  not_implemented: 'Nothing: this installation does not do it.',
  unavailable: 'Send the same request again after the seconds of Retry-After.',
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

/** Text in a cell: bars and angle brackets would end it or vanish. */
const shown = (text: string) => text.replaceAll(/[|<>]/g, '\\$&');
