import { escaped } from '../../../../platform/http/page.ts';
import { ANSWER, answerBox, choiceField, lineField, textField, tickField } from './fields.ts';
import { wordsIn } from './words.ts';

/** The state of the form after sending: accepted, or refused with the sent fields. */
export type FeedbackState =
  | 'sent'
  | {
      /** the fields as sent, which may be anything */
      sent: Record<string, unknown>;
      /** the fields that are wrong */
      wrong: readonly string[];
      /** the reason for the refusal, if it is not a field */
      reason?: 'later' | 'full' | undefined;
    };

interface Context {
  language: string | undefined;
  /** URL that receives the form, relative to the page */
  action: string;
  /** texts of the label about consents, if it shows them */
  consents: Partial<Record<'gdprConsent' | 'privacyPolicyConsent' | 'termsOfUseConsent', string>>;
}

const TYPES = ['PRAISE', 'PROPOSAL', 'COMPLAINT'] as const;
/** Maximum characters, as in the schema of feedback. */
const MAX = { feedback: 4000, email: 255 };
/** The fields that have messages about errors. */
const CHECKED_FIELDS = ['type', 'feedback', 'email', 'gdprConsent'] as const;

/** A form for feedback, or thanks for it. */
export function feedbackSection({ language, action, consents }: Context, state?: FeedbackState): string {
  const { t } = wordsIn(language);
  const head = `\n<section><h2 dir="auto">${escaped(t('label-page.feedback'))}</h2>`;
  if (state === 'sent')
    return `${head}${answerBox('status', `✓ ${escaped(t('label-page.sent'))}`)}</section>`;
  const { sent = {}, wrong = [], reason } = state ?? {};
  const wrongOf = (name: string) =>
    CHECKED_FIELDS.filter(each => each === name).map(each => t(`label-page.wrong.${each}`));
  const field = (name: string, label: string) => {
    const [message] = wrong.includes(name) ? wrongOf(name) : [];
    return { name, label, value: sent[name], wrong: message };
  };
  const consent = (name: 'gdprConsent' | 'privacyPolicyConsent' | 'termsOfUseConsent') =>
    tickField(field(name, t(`label-page.consent.${name}`)), consents[name] ?? '');
  const reasons = reason ? [t(`label-page.wrong.${reason}`)] : wrong.flatMap(wrongOf);
  const explanation = [t('label-page.wrong'), ...reasons].map(escaped).join('<br>');
  return `${head}
${state === undefined ? '' : answerBox('alert', explanation)}
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
