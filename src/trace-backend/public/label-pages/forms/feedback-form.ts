import { escaped } from '../../../../platform/http/page.ts';
import { ANSWER, answerBox, choiceField, lineField, textField, tickField } from './fields.ts';
import { type Word, wordOf } from './words.ts';

/** Feedback that was sent, or refused with what was typed. */
export type AskedFeedback =
  | 'sent'
  | {
      /** the fields as sent, which may be anything */
      typed: Record<string, unknown>;
      /** the fields that are wrong */
      wrong: readonly string[];
      /** why it was refused, if not for a field */
      reason?: 'wrong.later' | 'wrong.full' | undefined;
    };

interface Context {
  language: string | undefined;
  /** address that takes the form, relative to the page */
  action: string;
  /** texts of the label about consents, where it shows them */
  consents: Partial<Record<'gdprConsent' | 'privacyPolicyConsent' | 'termsOfUseConsent', string>>;
}

const TYPES = ['PRAISE', 'PROPOSAL', 'COMPLAINT'] as const;
/** Characters, at most, as in the schema of feedback. */
const MAX = { feedback: 4000, email: 255 };
/** What is wrong with a field, in words. */
const WRONG = new Map<string, Word>([
  ['type', 'wrong.type'],
  ['feedback', 'wrong.feedback'],
  ['email', 'wrong.email'],
  ['gdprConsent', 'wrong.gdprConsent'],
]);

/** A form for feedback, or thanks for it. */
export function feedbackSection({ language, action, consents }: Context, asked?: AskedFeedback): string {
  const say = (word: Word) => wordOf(word, language);
  const head = `\n<section><h2 dir="auto">${escaped(say('feedback'))}</h2>`;
  if (asked === 'sent') return `${head}${answerBox('status', `✓ ${escaped(say('sent'))}`)}</section>`;
  const { typed = {}, wrong = [], reason } = asked ?? {};
  const field = (name: string, label: Word) => {
    const word = wrong.includes(name) ? WRONG.get(name) : undefined;
    return { name, label: say(label), value: typed[name], wrong: word && say(word) };
  };
  const consent = (name: 'gdprConsent' | 'privacyPolicyConsent' | 'termsOfUseConsent') =>
    tickField(field(name, name), consents[name] ?? '');
  const named = wrong.flatMap(name => WRONG.get(name) ?? []).map(say);
  const why = [say('wrong'), ...(reason ? [say(reason)] : named)].map(escaped).join('<br>');
  return `${head}
${asked === undefined ? '' : answerBox('alert', why)}
<form method="post" action="${action}#${ANSWER}">
<p class="by">${escaped(say('feedback.text'))}</p>
${choiceField(
  field('type', 'type'),
  TYPES.map(value => ({ value, text: say(value) })),
)}
${textField(field('feedback', 'message'), MAX.feedback)}
${lineField(field('email', 'email'), `type="email" maxlength="${MAX.email}" autocomplete="email"`)}
${consent('gdprConsent')}
${consents.privacyPolicyConsent === undefined ? '' : consent('privacyPolicyConsent')}
${consents.termsOfUseConsent === undefined ? '' : consent('termsOfUseConsent')}
<button>${escaped(say('send'))}</button>
</form></section>`;
}
