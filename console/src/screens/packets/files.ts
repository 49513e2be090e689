import { t } from '../../messages/messages.svelte.ts';

/** The name of a file of a Body on the sender's device; apps may leave it out. */
export function fileName(reference: unknown): string | undefined {
  const { name } = Object(reference) as { name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

/** The names of the files of a Body, in one line; those without a name by their number. */
export function fileNames({ attachments }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(attachments)) return '';
  return attachments.map((one, at) => fileName(one) ?? t('threads.file', { number: at + 1 })).join(', ');
}
