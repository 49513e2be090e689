import { escaped } from '../../../../platform/http/page.ts';
import { ANSWER, answerBox, lineField } from './fields.ts';
import { type Say, wordsIn } from './words.ts';

/** What a visitor asked about a package, and the answer. */
export interface AskedBatch {
  number?: string | undefined;
  productionDate?: string | undefined;
  expiryDate?: string | undefined;
  outcome: 'AUTHENTIC' | 'EXPIRED' | 'UNCONFIRMED' | 'ORIGIN' | 'NO_ORIGIN' | 'NO_NUMBER';
  /** the places of the batch, if they were asked for and everyone may see them */
  locations?: readonly object[];
}

interface Context {
  language: string | undefined;
  /** path of the label, relative to the page */
  path: string;
  /** how many batches can be checked, and traced */
  checkAuthenticityCount: number;
  traceOriginCount: number;
}

/**
 * A form to check a package by what is printed on it, as far as the label has batches for that, and the answer; empty
 * without both.
 *
 * @param placesOf HTML of places, with their map
 */
export function batchSection(
  { language, path, checkAuthenticityCount, traceOriginCount }: Context,
  asked: AskedBatch | undefined,
  placesOf: (locations: readonly object[]) => string,
): string {
  const isChecked = checkAuthenticityCount > 0;
  const isTraced = traceOriginCount > 0;
  if (!isChecked && !isTraced && asked === undefined) return '';
  const { t } = wordsIn(language);
  const outcome = asked?.outcome;
  const number = {
    name: 'number',
    label: t('label-page.number'),
    value: asked?.number,
    wrong: outcome === 'NO_NUMBER' ? t('label-page.outcome.NO_NUMBER') : undefined,
  };
  const date = (name: 'productionDate' | 'expiryDate') =>
    lineField({ name, label: t(`label-page.date.${name}`), value: asked?.[name] }, 'type="date"');
  const button = (action: string, word: 'authentic' | 'origin', className = '') =>
    `<button${className} formaction="${path}/${action}#${ANSWER}">${escaped(t(`label-page.check.${word}`))}</button>`;
  const other = isChecked ? ' class="other"' : '';
  const head = `\n<section><h2 dir="auto">${escaped(t('label-page.check'))}</h2>`;
  const answer = asked === undefined || outcome === 'NO_NUMBER' ? '' : answerOf(asked, t, placesOf);
  // An address that somebody typed has an answer, too.
  if (!isChecked && !isTraced) return `${head}${answer}</section>`;
  return `${head}
${answer}
<form action="${path}/${isChecked ? CHECK : TRACE}#${ANSWER}">
<p class="by">${escaped(t('label-page.check.text'))}</p>
${lineField(number, 'required maxlength="255" autocomplete="off" spellcheck="false"')}
${isChecked ? date('productionDate') + date('expiryDate') : ''}
${isChecked ? button(CHECK, 'authentic') : ''}${isTraced ? button(TRACE, 'origin', other) : ''}
</form></section>`;
}

const CHECK = 'verify_batch_authenticity';
const TRACE = 'verify_batch_origin';

function answerOf(
  { number = '', outcome, locations = [] }: AskedBatch,
  t: Say,
  placesOf: (locations: readonly object[]) => string,
): string {
  const isGood = outcome === 'AUTHENTIC' || outcome === 'EXPIRED';
  const sign = isGood ? '✓ ' : outcome === 'UNCONFIRMED' ? '✗ ' : '';
  const sentence = t(`label-page.outcome.${outcome === 'EXPIRED' ? 'AUTHENTIC' : outcome}`);
  const expired = outcome === 'EXPIRED' ? `<br>${escaped(t('label-page.outcome.EXPIRED'))}` : '';
  const places = outcome === 'ORIGIN' ? placesOf(locations) : '';
  return answerBox(
    'status',
    `${sign}<strong>${escaped(number)}</strong><br>${escaped(sentence)}${expired}${places}`,
  );
}
