import { escaped } from '../../../../platform/http/page.ts';
import { ANSWER, answerBox, choiceField, lineField, textField, tickField } from './fields.ts';
import { wordsIn } from './words.ts';

/** Feedback that was sent, or refused with what was typed. */
export type AskedFeedback =
  | 'sent'
  | {
      /** the fields as sent, which may be anything */
      typed: Record<string, unknown>;
      /** the fields that are wrong */
      wrong: readonly string[];
      /** why it was refused, if not for a field */
      reason?: 'later' | 'full' | undefined;
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
/** The fields of which something can be wrong. */
const WRONG = ['type', 'feedback', 'email', 'gdprConsent'] as const;

/** A form for feedback, or thanks for it. */
export function feedbackSection({ language, action, consents }: Context, asked?: AskedFeedback): string {
  const { t } = wordsIn(language);
  const head = `\n<section><h2 dir="auto">${escaped(t('label-page.feedback'))}</h2>`;
  if (asked === 'sent')
    return `${head}${answerBox('status', `✓ ${escaped(t('label-page.sent'))}`)}</section>`;
  const { typed = {}, wrong = [], reason } = asked ?? {};
  const wrongOf = (name: string) =>
    WRONG.filter(known => known === name).map(known => t(`label-page.wrong.${known}`));
  const field = (name: string, label: string) => {
    const [said] = wrong.includes(name) ? wrongOf(name) : [];
    return { name, label, value: typed[name], wrong: said };
  };
  const consent = (name: 'gdprConsent' | 'privacyPolicyConsent' | 'termsOfUseConsent') =>
    tickField(field(name, t(`label-page.consent.${name}`)), consents[name] ?? '');
  const named = reason ? [t(`label-page.wrong.${reason}`)] : wrong.flatMap(wrongOf);
  const why = [t('label-page.wrong'), ...named].map(escaped).join('<br>');
  return `${head}
${asked === undefined ? '' : answerBox('alert', why)}
<form method="post" action="${action}#${ANSWER}">
<p class="by">${escaped(t('label-page.feedback.text'))}</p>
${choiceField(
  field('type', t('label-page.type')),
  TYPES.map(value => ({ value, text: t(`label-page.type.${value}`) })),
)}
${textField(field('feedback', t('label-page.message')), MAX.feedback)}
${lineField(field('email', t('label-page.email')), `type="email" maxlength="${MAX.email}" autocomplete="email"`)}
${consent('gdprConsent')}
${consents.privacyPolicyConsent === undefined ? '' : consent('privacyPolicyConsent')}
${consents.termsOfUseConsent === undefined ? '' : consent('termsOfUseConsent')}
<button>${escaped(t('label-page.send'))}</button>
</form></section>`;
}
