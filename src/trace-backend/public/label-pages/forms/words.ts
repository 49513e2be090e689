import type english from '../../../../../messages/en/services/label-page.json';
import { readMessages } from '../../../../platform/messages/messages.ts';

type Key = `label-page.${keyof typeof english}`;

/** The texts of the forms on a label's page, by the language of the label. */
export const wordsIn = readMessages<Key>('services/label-page.json');

/** Returns a text of the forms in the language of a label. */
export type Translate = ReturnType<typeof wordsIn>['t'];
