import { t } from '../../messages/messages.svelte.ts';

/** The name that the sender's device has given a file of a Body; apps may leave it out. */
export function fileName(reference: unknown): string | undefined {
  const { name } = Object(reference) as { name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

/** The names of the files of a Body, in one line; those without a name by their number. */
export function fileNames({ attachments }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(attachments)) return '';
  return attachments.map((one, at) => fileName(one) ?? t('threads.file', { number: at + 1 })).join(', ');
}
