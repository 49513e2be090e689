import { connection } from '../../api/connection.svelte.ts';
import { Failure, type Fault } from '../../api/failure.ts';
import { formatDate, formatNumber } from '../../messages/format.ts';
import { hasMessage, language, locales, t } from '../../messages/messages.svelte.ts';
import { usesIn } from './uses.ts';

/** A message in the language of the console, with the English sentence of the service if it has no translation. */
export interface BilingualText {
  text: string;
  english?: string | undefined;
}

/** Statuses that a text of their own introduces. */
const INTRODUCED = new Set([400, 401, 404, 409, 413, 415]);

/**
 * What is wrong, in the language of the console. It does not name the field: it is shown next to it, and the services
 * use other names than the console.
 */
export function faultMessage(fault: Fault | string): BilingualText {
  if (typeof fault === 'string') return { text: fault };
  const { reason, parameters, sentence } = fault;
  const key = `reasons.${reason}`;
  if (!hasMessage(key)) return language() === 'en' ? { text: sentence } : { text: '', english: sentence };
  const values = Object.entries(parameters).map(([name, value]) => [name, shown(name, value)]);
  return { text: t(key, Object.fromEntries(values)) };
}

/** Parameters that are positions in a list, which people count from 1. */
const FROM_ZERO = new Set(['index', 'first', 'second']);

/** The records that refer to a record, with the names of their kinds in the language of the console. */
function translatedUses(english: string): string {
  const uses = usesIn(english);
  if (language() === 'en' || uses.length === 0) return english;
  const shown = uses.map(({ kind, name, count }) => {
    const id = kind.replaceAll(' ', '-');
    const key = [`administration.audit.kind.${id}`, `failures.value.${id}`].find(hasMessage);
    return `${key === undefined ? kind : t(key)} “${name}”${count === 1 ? '' : ` (+${count - 1})`}`;
  });
  return new Intl.ListFormat(locales()).format(shown);
}

/** A parameter of a reason, as the console writes it. */
function shown(name: string, value: string | number): string | number {
  if (typeof value === 'number') return FROM_ZERO.has(name) ? value + 1 : value;
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return formatDate(value);
  if (name === 'codes') return new Intl.ListFormat(locales()).format(value.split(' and '));
  if (name === 'uses') return translatedUses(value);
  const keys = [`companies.role.${value}`, `administration.role.${value}`].filter(() => name === 'role');
  const translated = [...keys, `failures.value.${value.replaceAll(' ', '-')}`].find(hasMessage);
  if (translated !== undefined) return t(translated);
  const hours = /^(?:(\d+) hours|an hour)$/.exec(value);
  if (!hours) return value;
  return formatNumber(Number(hours[1] ?? 1), { style: 'unit', unit: 'hour', unitDisplay: 'long' });
}

/** Outside a form nothing else says which value does not fit, such as that of a filter in the address. */
function withField(text: string, fault: Fault | string): string {
  if (text === '' || typeof fault === 'string' || !fault.reason?.startsWith('validation.')) return text;
  const { field } = fault.parameters;
  return field === undefined ? text : `${field}: ${text}`;
}

/** The message of a failure. */
export function failureMessage(failure: unknown): BilingualText {
  // What fetch itself throws does not say why.
  if (!(failure instanceof Failure))
    return { text: t(connection.isLost ? 'common.failed.offline' : 'common.failed.unknown') };
  const { status, retryAfter: seconds } = failure;
  if (status === 0) return { text: t('common.failed.offline') };
  const { text, english } = faultMessage(failure.fault);
  const message = withField(text, failure.fault);
  const around = (text: string) => ({ text: text.trim(), english });
  if (status === 403) return around(t('common.failed.forbidden', { message }));
  if (status === 429 || status === 503) {
    if (seconds === undefined) return around(t('common.failed.busy', { message }));
    return around(t('common.failed.later', { message, seconds }));
  }
  if (english === undefined) return { text: message };
  return around(t(`failures.status.${INTRODUCED.has(status) ? status : 'other'}`));
}

/** `failureMessage` as one text, for notices. */
export function failureText(failure: unknown): string {
  const { text, english } = failureMessage(failure);
  return english === undefined ? text : `${text} ${english}`;
}
