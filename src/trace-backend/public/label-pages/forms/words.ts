import type english from '../../../../../messages/en/services/label-page.json';
import { readMessages } from '../../../../platform/messages/messages.ts';

type Key = `label-page.${keyof typeof english}`;

/** What the forms on a label's page say, by the language of the label. */
export const wordsIn = readMessages<Key>('services/label-page.json');

/** Says a word of the forms in the language of a label. */
export type Say = ReturnType<typeof wordsIn>['t'];
