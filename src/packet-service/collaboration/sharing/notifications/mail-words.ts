import type english from '../../../../../messages/en/services/shared-mails.json';
import { readMessages, type Words } from '../../../../platform/messages/messages.ts';

type Key = `shared-mails.${keyof typeof english}`;

/** The words of mails about shares and invitations. */
export type MailWords = Words<Key>;

/** By the language of the recipient, as the registry of users names it. */
export const wordsIn = readMessages<Key>('services/shared-mails.json');
