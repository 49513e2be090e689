import { escaped } from '../../../../platform/http/page.ts';
import { ANSWER, answerBox, lineField } from './fields.ts';
import { type Translate, wordsIn } from './words.ts';

/** A visitor's check of a package, and its result. */
export interface BatchAnswer {
  number?: string | undefined;
  productionDate?: string | undefined;
  expiryDate?: string | undefined;
  outcome: 'AUTHENTIC' | 'EXPIRED' | 'UNCONFIRMED' | 'ORIGIN' | 'NO_ORIGIN' | 'NO_NUMBER';
  /** the locations of the batch, for a check of its origin, if they are public */
  locations?: readonly object[];
}

interface Context {
  language: string | undefined;
  /** path of the label, relative to the page */
  path: string;
  /** number of batches that can be checked, and traced */
  checkAuthenticityCount: number;
  traceOriginCount: number;
}

/**
 * A form to check a package by its printed number and dates, if the label has batches for that, and the result of a
 * check; empty without both.
 *
 * @param locationsHtml returns the HTML of locations, with their map
 */
export function batchSection(
  { language, path, checkAuthenticityCount, traceOriginCount }: Context,
  check: BatchAnswer | undefined,
  locationsHtml: (locations: readonly object[]) => string,
): string {
  const isChecked = checkAuthenticityCount > 0;
  const isTraced = traceOriginCount > 0;
  if (!isChecked && !isTraced && check === undefined) return '';
  const { t } = wordsIn(language);
  const outcome = check?.outcome;
  const number = {
    name: 'number',
    label: t('label-page.number'),
    value: check?.number,
    wrong: outcome === 'NO_NUMBER' ? t('label-page.outcome.NO_NUMBER') : undefined,
  };
  const date = (name: 'productionDate' | 'expiryDate') =>
    lineField({ name, label: t(`label-page.date.${name}`), value: check?.[name] }, 'type="date"');
  const button = (action: string, word: 'authentic' | 'origin', className = '') =>
    `<button${className} formaction="${path}/${action}#${ANSWER}">${escaped(t(`label-page.check.${word}`))}</button>`;
  const secondary = isChecked ? ' class="other"' : '';
  const head = `\n<section><h2 dir="auto">${escaped(t('label-page.check'))}</h2>`;
  const answerHtml = check === undefined || outcome === 'NO_NUMBER' ? '' : answerOf(check, t, locationsHtml);
  // Without batches, a check by a typed URL still gets its result.
  if (!isChecked && !isTraced) return `${head}${answerHtml}</section>`;
  return `${head}
${answerHtml}
<form action="${path}/${isChecked ? CHECK : TRACE}#${ANSWER}">
<p class="by">${escaped(t('label-page.check.text'))}</p>
${lineField(number, 'required maxlength="255" autocomplete="off" spellcheck="false"')}
${isChecked ? date('productionDate') + date('expiryDate') : ''}
${isChecked ? button(CHECK, 'authentic') : ''}${isTraced ? button(TRACE, 'origin', secondary) : ''}
</form></section>`;
}

const CHECK = 'verify_batch_authenticity';
const TRACE = 'verify_batch_origin';

function answerOf(
  { number = '', outcome, locations = [] }: BatchAnswer,
  t: Translate,
  locationsHtml: (locations: readonly object[]) => string,
): string {
  const isAuthentic = outcome === 'AUTHENTIC' || outcome === 'EXPIRED';
  const sign = isAuthentic ? '✓ ' : outcome === 'UNCONFIRMED' ? '✗ ' : '';
  const sentence = t(`label-page.outcome.${outcome === 'EXPIRED' ? 'AUTHENTIC' : outcome}`);
  const expired = outcome === 'EXPIRED' ? `<br>${escaped(t('label-page.outcome.EXPIRED'))}` : '';
  const locationList = outcome === 'ORIGIN' ? locationsHtml(locations) : '';
  return answerBox(
    'status',
    `${sign}<strong>${escaped(number)}</strong><br>${escaped(sentence)}${expired}${locationList}`,
  );
}
