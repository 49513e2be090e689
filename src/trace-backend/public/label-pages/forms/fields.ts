import { escaped } from '../../../../platform/http/page.ts';

/** The id of the element to which an answer jumps, so that screen readers start there. */
export const ANSWER = 'answer';

/** The style of the forms, in addition to that of every page. */
export const FORM_STYLE = `
input,select,textarea{border-color:var(--soft)}
select,textarea{display:block;width:100%;margin-top:.25rem;font:inherit;padding:.6rem 1rem;
border:1px solid var(--soft);border-radius:.5rem;background:var(--paper);color:inherit}
textarea{min-height:7rem;resize:vertical}
label.tick{display:flex;gap:.6rem;align-items:baseline}
.tick input{width:auto;flex:none;margin:0}
.answer{margin:1rem 0 0;padding:.85rem;border:1px solid var(--line);border-inline-start:.3rem solid var(--mark);
border-radius:.5rem}
.wrong{margin:.25rem 0 0}
.wrong::before{content:'✗ '}
form p.by{margin-top:.85rem;font-size:.85rem;white-space:pre-line}
`;

/** A field of a form, with the sent value and its error. */
interface FieldState {
  name: string;
  label: string;
  /** the sent value, which may be anything */
  value?: unknown;
  wrong?: string | undefined;
}

/** A single-line field; `attributes` are HTML. */
export function lineField({ name, label, value, wrong }: FieldState, attributes: string): string {
  const valueAttribute = typeof value === 'string' ? ` value="${escaped(value)}"` : '';
  return (
    `<label for="${name}">${escaped(label)}</label>` +
    `<input id="${name}" name="${name}" ${attributes}${valueAttribute}${describedBy(name, wrong)}>${wrongOf(name, wrong)}`
  );
}

/** A multi-line field. */
export function textField({ name, label, value, wrong }: FieldState, maxLength: number): string {
  // A line break directly after the tag is not part of the text (HTML, 13.2.6.4.7).
  return (
    `<label for="${name}">${escaped(label)}</label>` +
    `<textarea id="${name}" name="${name}" dir="auto" maxlength="${maxLength}"${describedBy(name, wrong)}>\n` +
    `${typeof value === 'string' ? escaped(value) : ''}</textarea>${wrongOf(name, wrong)}`
  );
}

/** A choice of one option or none. */
export function choiceField(
  { name, label, value, wrong }: FieldState,
  options: readonly { value: string; text: string }[],
): string {
  const items = [{ value: '', text: '–' }, ...options].map(
    option =>
      `<option value="${option.value}"${option.value === value ? ' selected' : ''}>${escaped(option.text)}</option>`,
  );
  return (
    `<label for="${name}">${escaped(label)}</label>` +
    `<select id="${name}" name="${name}"${describedBy(name, wrong)}>${items.join('')}</select>${wrongOf(name, wrong)}`
  );
}

/** A consent, with its terms. */
export function tickField({ name, label, value, wrong }: FieldState, text: string): string {
  const terms = text === '' ? '' : `<p class="by" dir="auto">${escaped(text)}</p>`;
  const ticked = value === true || value === 'true' ? ' checked' : '';
  return (
    `${terms}<label class="tick"><input type="checkbox" name="${name}" value="true"${ticked}` +
    `${describedBy(name, wrong)}><span>${escaped(label)}</span></label>${wrongOf(name, wrong)}`
  );
}

function describedBy(name: string, wrong: string | undefined): string {
  return wrong === undefined ? '' : ` aria-invalid="true" aria-describedby="${name}-wrong"`;
}

function wrongOf(name: string, wrong: string | undefined): string {
  return wrong === undefined ? '' : `<p class="wrong" id="${name}-wrong">${escaped(wrong)}</p>`;
}

/** The answer to a form; the page opens at it. */
export function answerBox(role: 'status' | 'alert', html: string): string {
  return `<div class="answer" id="${ANSWER}" role="${role}" tabindex="-1" dir="auto">${html}</div>`;
}
