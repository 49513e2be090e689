import { recordName } from '../../../api/record-names.svelte.ts';
import { countryName, formatDate, formatNumber, languageName } from '../../../messages/format.ts';
import { t } from '../../../messages/messages.svelte.ts';
import { fieldName } from './field-name.ts';
import { meaningOf, type Part } from './history.ts';

/** Characters of a text; the others are in what is stored. */
const LONG = 400;

/** A stored value in words: a choice of a form, a name, a date, a number. */
export function describeValue({ path, value, isFile }: Part, productId: string): string {
  const meaning = meaningOf(path);
  const text = String(value);
  if (typeof value === 'boolean') return t(value ? 'products.history.yes' : 'products.history.no');
  if (meaning === 'date') return formatDate(text);
  if (meaning === 'country') return countryName(text);
  if (meaning === 'field') return fieldName(text, productId);
  if (meaning === 'language') return languageName(text);
  if (isFile || meaning === 'file') return t('products.history.file');
  if (meaning !== undefined && 'record' in meaning)
    return recordName(meaning.record, text, meaning.within) ?? text;
  if (meaning !== undefined) {
    const key = meaning.word(text);
    return t(key) === key ? text : t(key);
  }
  if (typeof value === 'number') return formatNumber(value, { maximumFractionDigits: 12 });
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}

/**
 * A stored value after the name of its field. Entries of plain lists have no names.
 *
 * @param above the path of what it is shown in
 */
export function describeNamedValue(part: Part, productId: string, above: string): string {
  const name = fieldName(part.path, productId, above);
  return /^\d*$/.test(name) ? describeValue(part, productId) : `${name}: ${describeValue(part, productId)}`;
}
